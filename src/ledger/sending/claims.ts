import { type RawBuilder, sql } from 'kysely';
import type { Brakes } from '../../domain/brakes.ts';
import { admit } from '../../domain/daily-limit.ts';
import type { Mode } from '../../domain/payout.ts';
import { perDialect } from '../database/dialect.ts';
import { prepared, unseen } from '../database/prepared.ts';
import type { Db, Trx } from '../open.ts';
import { beginAttempts } from '../payouts/attempts.ts';
import { beginFiles, fileMayGo } from '../payouts/batch-files.ts';
import { columns, farAhead, type Row } from '../payouts/projection.ts';
import { record } from '../payouts/record.ts';
import type { Payout } from '../tables/tables.ts';
import { isApproved } from './approvals.ts';
import { beginCanaries, settleCanaries } from './canary.ts';
import { findHalt, halt } from './halts.ts';
import { type Lane, type Lanes, lanesOf, usesLanes } from './lanes.ts';
import { spend } from './limit-uses.ts';
import { holdTooLarge, openDay } from './limits.ts';
import { nothingStands } from './quiet.ts';
import { withhold } from './withheld.ts';

/** One payout with a committed intent: it may be POSTed once, under this attempt (P1). */
export type Claim = { payoutId: bigint; attemptId: bigint; reference: string; body: string };

/** What may be claimed: only these batches, only these payouts; everything of the mode when absent. */
export type Scope = { batches?: readonly string[]; payouts?: readonly bigint[] };

/** The brakes of the configuration, and when it is, ISO UTC. */
export type Under = { mode: Mode; brakes: Brakes; at: string };

export type ClaimRequest = Scope & Under & { workerId: string; limit: number };

/** Batches and currencies that are looked at for one turn: more than a turn has slots for is never needed. */
const lanesATurn = 50;

/** As {@link claimUnlessHalted}, for who does not ask why nothing may be sent. */
export async function claim(trx: Trx, request: ClaimRequest): Promise<Claim[]> {
  return (await claimUnlessHalted(trx, request)).claims;
}

/**
 * Moves up to `limit` ready payouts to `sending` with an attempt each. Everything is checked against the ledger again
 * here: mode, halt, hold, approval, canary, limits, not-before, a look-up that must come first (P2). Nothing may be sent
 * before the commit. `halted`: why nothing of the mode may be sent.
 */
export async function claimUnlessHalted(
  trx: Trx,
  request: ClaimRequest,
): Promise<{ claims: Claim[]; halted: string | null }> {
  const { mode, brakes, at } = request;
  const none = { claims: [], halted: null };
  const isQuiet = await nothingStands(trx, request);
  if (!isQuiet) {
    await stopForCanaries(trx, request);
    const halted = await findHalt(trx, mode);
    if (halted) return { claims: [], halted: halted.cause };
  }
  if (request.limit <= 0) return none;
  if (!isQuiet) await assertNotTakenOver(trx, request.workerId);
  const lanes = isQuiet && !usesLanes(brakes) ? null : await lanesToClaim(trx, request);
  const free = await withhold(trx, mode, await readyOf(trx, request, lanes), at);
  const limits = lanes?.use;
  // Also when nothing goes today: else what a wrong clock spent would be spent of every day.
  if (limits?.moved) await openDay(trx, { mode, brakes, at });
  const ready = limits ? admit(await holdTooLarge(trx, at, free, limits.limits), limits.left).admitted : free;
  if (ready.length === 0) return none;
  await beginFiles(trx, batchesOf(ready), begunUnder(brakes));
  const dayId = await openDay(trx, { mode, brakes, at });
  await spend(trx, dayId, ready);
  const numbered = ready.map((p) => ({ payout_id: p.id, number: p.attempt_count + 1n }));
  const attemptOf = await beginAttempts(trx, { workerId: request.workerId, at, dayId }, numbered);
  const claims = ready.flatMap(({ id, reference, body }) => {
    const attemptId = attemptOf.get(id);
    return attemptId === undefined ? [] : [{ payoutId: id, attemptId, reference, body }];
  });
  const intents = claims.map(({ payoutId, attemptId }) => ({
    payoutId,
    source: request.workerId,
    event: { kind: 'intent' as const, attemptId },
  }));
  await record(trx, at, intents, ready);
  return { claims, halted: null };
}

/** P21: a canary that went wrong, or did not settle in time, halts the mode. */
export async function stopForCanaries(trx: Trx, { mode, brakes, at }: Under): Promise<void> {
  const causes = await settleCanaries(trx, mode, { at, hours: brakes.canaryHours });
  for (const cause of causes) await halt(trx, mode, cause, at);
}

/** What may be claimed of which batch; the first to send of a batch begins its canary. */
async function lanesToClaim(trx: Trx, request: ClaimRequest): Promise<Lanes | null> {
  const { mode, brakes, at } = request;
  const lanes = await lanesOf(trx, request);
  if (!lanes || brakes.canary === 0) return lanes;
  const batches = lanes.lanes.flatMap(({ batch, throughId }) => (throughId === null ? [batch] : []));
  await beginCanaries(trx, mode, batches, { size: brakes.canary, at });
  return lanesOf(trx, request);
}

/** With all that `record` asks of a payout: it is not read a second time in the transaction that claims it. */
type Ready = Row & Pick<Payout, (typeof claimColumns)[number]>;

const readyState = unseen(sql<'ready'>`${'ready'}`);

const claimColumns = ['reference', 'body', 'amount', 'currency', 'successor_of'] as const;

/** The next payouts that may be claimed, in their order, before what is asked of each of them. */
async function readyOf(trx: Trx, request: ClaimRequest, lanes: Lanes | null): Promise<Ready[]> {
  if (!lanes && request.payouts === undefined) return readyOfBatches(trx, request);
  const base = claimable(trx, request, { ...request, far: farAhead(request.at) });
  if (!lanes) return base.where('payouts.state', '=', readyState).execute();
  const found: Ready[] = [];
  for (const lane of openOf(lanes).slice(0, lanesATurn)) {
    found.push(...(await base.where(ofLane(lane)).execute()));
  }
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, request.limit);
}

/** What a claim asks for, as values or as the places of values. */
type Asked = {
  mode: Mode | RawBuilder<Mode>;
  at: string | RawBuilder<string>;
  /** As {@link farAhead} has it. */
  far: string | RawBuilder<string>;
  limit: number | RawBuilder<number>;
  batches?: readonly (string | RawBuilder<string>)[];
  payouts?: readonly bigint[];
};

function claimable(db: Db | Trx, { brakes }: Pick<Under, 'brakes'>, asked: Asked) {
  const { payouts } = asked;
  return db
    .selectFrom('payouts')
    .select(columns)
    .select(claimColumns)
    .where('payouts.mode', '=', asked.mode)
    .where('payouts.look_up_first', '=', sql.lit(0n))
    .where((eb) => {
      const { at, far } = asked;
      const waits = eb.and([eb('payouts.not_before', '>', at), eb('payouts.not_before', '<=', far)]);
      return eb.or([eb('payouts.not_before', 'is', null), eb.not(waits)]);
    })
    .where(ofOpenBatch(db, brakes, asked), '=', sql.lit(1n))
    .$if(payouts !== undefined, (q) => q.where('payouts.id', 'in', [...(payouts ?? [])]))
    .orderBy('payouts.id')
    .limit(sql<number>`cast(${asked.limit} as bigint)`)
    .modifyEnd(unlessLocked);
}

/**
 * A payout that somebody else's open transaction has locked waits, and nobody waits for it: this transaction has the
 * ledger's one lock. In a file nobody can lock a row.
 */
const unlessLocked = perDialect(sql``, sql`for update of payouts skip locked`);

/**
 * 1 for a payout whose batch may go. A value and no join: so payouts are read in the order of the index of what is ready,
 * and no more of them than are asked for; a join may be put together by reading and sorting everything that is ready.
 */
function ofOpenBatch(db: Db | Trx, brakes: Brakes, { mode, batches }: Asked) {
  return db
    .selectFrom('batches')
    .select(sql<bigint>`1`.as('may_go'))
    .whereRef('batches.id', '=', sql.ref('payouts.batch_id'))
    .where('batches.phase', '=', 'loaded')
    .where('batches.mode', '=', mode)
    .where(fileMayGo)
    .where(isApproved(brakes))
    .$if(batches !== undefined, (q) => q.where('batches.id', 'in', [...(batches ?? [])]));
}

function batchesOf(ready: readonly Ready[]): string[] {
  return ready.map((payout) => payout.batch_id);
}

/** The batches of which a process has begun to send, kept by its brakes. */
const begun = new WeakMap<Brakes, Set<string>>();

function begunUnder(brakes: Brakes): Set<string> {
  const known = begun.get(brakes) ?? new Set();
  begun.set(brakes, known);
  return known;
}

type Query = ReturnType<typeof prepared<Ready>>;

/** The query of each turn of a sender, kept by the brakes and the number of batches that it was put together for. */
const kept = new WeakMap<Brakes, Map<number | undefined, Query>>();

function readyOfBatches(trx: Trx, { mode, brakes, at, limit, batches }: ClaimRequest): Promise<Ready[]> {
  const own = kept.get(brakes) ?? new Map<number | undefined, Query>();
  kept.set(brakes, own);
  const query =
    own.get(batches?.length) ??
    prepared<Ready>((db, slot) => {
      const among = batches && { batches: batches.map((_, i) => slot<string>(4 + i)) };
      const when = { at: slot<string>(1), far: slot<string>(2) };
      const asked = { mode: unseen(slot<Mode>(0)), ...when, limit: slot<number>(3), ...among };
      return claimable(db, { brakes }, asked).where('payouts.state', '=', readyState);
    });
  own.set(batches?.length, query);
  return query(trx, [mode, at, farAhead(at), BigInt(limit), ...(batches ?? [])]);
}

function openOf({ lanes }: Lanes): Lane[] {
  return lanes.filter(({ waits }) => waits === null);
}

/** Written out, the state lets the index of what is ready be used. */
function ofLane({ batch, currency, throughId }: Lane): RawBuilder<boolean> {
  const through = throughId === null ? sql`` : sql` and payouts.id <= ${throughId}`;
  return sql<boolean>`(payouts.state = 'ready' and payouts.batch_id = ${batch} and payouts.currency = ${currency}${through})`;
}

/** Others took this process for dead (P3): it must stop, and a new one may begin. */
export class TakenOver extends Error {}

const endedWorker = prepared<{ ended_at: string | null }>((db, slot) =>
  db
    .selectFrom('workers')
    .select('ended_at')
    .where('id', '=', slot<string>(0))
    .where('ended_at', 'is not', null),
);

/** P3: a process that others took for dead has lost its claims and makes no new ones. */
async function assertNotTakenOver(trx: Trx, workerId: string): Promise<void> {
  const [ended] = await endedWorker(trx, [workerId]);
  if (ended)
    throw new TakenOver(
      `another process took over worker ${workerId}, because its lock was free: it sends nothing more; start it again`,
    );
}

/** What still keeps the sender busy: payouts it could send now, later, or after a look-up. What a brake keeps back is none. */
export async function sendable(
  db: Db,
  only: Scope & Under,
): Promise<{ ready: number; lookUpFirst: number; nextAt: string | null }> {
  const { mode } = only;
  const lanes = await lanesOf(db, only);
  const open = lanes && openOf(lanes);
  if (open?.length === 0) return { ready: 0, lookUpFirst: 0, nextAt: null };
  const row = await db
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select((eb) => [
      eb.fn.countAll<bigint>().as('ready'),
      eb.fn.sum<bigint | null>('payouts.look_up_first').as('look_up_first'),
      sql<string | null>`min(case when look_up_first = 0 then case when not_before <= ${farAhead(only.at)}
        then not_before else '' end end)`.as('next_at'),
    ])
    .where('payouts.mode', '=', mode)
    .where('payouts.state', '=', 'ready')
    .where('batches.phase', '=', 'loaded')
    .where(fileMayGo)
    .where(isApproved(only.brakes))
    .$if(only.batches !== undefined, (q) => q.where('payouts.batch_id', 'in', [...(only.batches ?? [])]))
    .$if(only.payouts !== undefined, (q) => q.where('payouts.id', 'in', [...(only.payouts ?? [])]))
    .$if(open !== null, (q) => q.where((eb) => eb.or((open ?? []).slice(0, lanesATurn).map(ofLane))))
    .executeTakeFirstOrThrow();
  return {
    ready: Number(row.ready),
    lookUpFirst: Number(row.look_up_first ?? 0n),
    nextAt: row.next_at || null,
  };
}

/** Turns the open attempts of a dead worker into unknown outcomes: it may have sent them (P3). Returns how many. */
export async function abandonClaims(trx: Trx, workerId: string, at: string): Promise<number> {
  const open = await trx
    .selectFrom('attempts')
    .select(['id', 'payout_id'])
    .where('worker_id', '=', workerId)
    .where('outcome', 'is', null)
    .execute();
  const why = 'the sending process died before the answer was recorded';
  const events = open.map(({ id, payout_id }) => ({
    payoutId: payout_id,
    source: 'takeover',
    event: { kind: 'abandoned' as const, attemptId: id, why },
  }));
  await record(trx, at, events);
  return open.length;
}
