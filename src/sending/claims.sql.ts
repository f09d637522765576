import { beginAttempts } from '../core/ledger/attempts.ts';
import { beginFiles } from '../core/ledger/batch-files.ts';
import { spend } from '../core/ledger/limit-uses.ts';
import { record } from '../core/ledger/record.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import { withhold } from '../watching/evidence/withheld.ts';
import { beginCanaries, settleCanaries } from './canaries.sql.ts';
import { type ClaimRequest, type ClaimScope, throughDay, type Under } from './claim-request.ts';
import { admit } from './daily-limit.ts';
import type { Halt } from './halt.ts';
import { findHalt, halt } from './halts.sql.ts';
import { type Lanes, lanesOf, usesLanes } from './lanes.sql.ts';
import { holdAboveLimit, holdTooLarge, openDay } from './limits.sql.ts';
import { assertSchema, nothingStands } from './quiet.sql.ts';
import { readyOf } from './ready.sql.ts';
import { type ReadyPart, readyParts } from './ready-parts.sql.ts';

/** One payout with a committed intent: it may be POSTed once, under this attempt (P1). */
export type Claim = { payoutId: bigint; attemptId: bigint; reference: string; body: string; batch: string };

/** As {@link claimUnlessHalted} without the halt reason. */
export async function claim(trx: Trx, request: ClaimRequest): Promise<Claim[]> {
  return (await claimUnlessHalted(trx, request)).claims;
}

/**
 * Moves up to `limit` ready payouts to `sending`, with an attempt each. It checks everything against the ledger again:
 * halt, hold, approval, day of payment, canary, limits, `Retry-After`, and the answer that a second attempt needs (P2, P31). Nothing may be
 * sent before the commit. `halted`: the halt that stops it.
 */
export async function claimUnlessHalted(
  trx: Trx,
  request: ClaimRequest,
): Promise<{ claims: Claim[]; halted: Halt | null }> {
  const { brakes, at } = request;
  const none = { claims: [], halted: null };
  const isQuiet = await nothingStands(trx, request.workerId);
  if (!isQuiet) {
    await stopForCanaries(trx, request);
    const halted = await findHalt(trx);
    if (halted) return { claims: [], halted };
  }
  if (request.limit <= 0) return none;
  if (!isQuiet) {
    await assertSchema(trx);
    await assertNotTakenOver(trx, request.workerId);
  }
  const lanes = isQuiet && !usesLanes(brakes) ? null : await lanesToClaim(trx, request);
  const found = await readyOf(trx, request, lanes);
  const free = await withhold(trx, await holdAboveLimit(trx, found, brakes.payoutLimit), request);
  const limits = lanes?.use;
  // Also when nothing is sent today: else what was spent under a wrong clock would count against every day.
  if (limits?.moved) await openDay(trx, request);
  const ready = limits ? admit(await holdTooLarge(trx, at, free, limits.limits), limits.left).admitted : free;
  if (ready.length === 0) return none;
  await beginFiles(
    trx,
    ready.map((payout) => payout.batch_id),
    request.begun ?? new Set(),
  );
  const dayId = await openDay(trx, request);
  await spend(trx, dayId, ready);
  const numbered = ready.map((p) => ({ payout_id: p.id, number: p.attempt_count + 1n }));
  const { workerId, originId, clockOffMs = null } = request;
  const attemptOf = await beginAttempts(trx, { workerId, at, dayId, originId, clockOffMs }, numbered);
  const claims = ready.flatMap(({ id, reference, body, batch_id: batch }) => {
    const attemptId = attemptOf.get(id);
    return attemptId === undefined ? [] : [{ payoutId: id, attemptId, reference, body, batch }];
  });
  const intents = claims.map(({ payoutId, attemptId }) => ({
    payoutId,
    source: request.workerId,
    event: { kind: 'intent' as const, attemptId },
  }));
  await record(trx, at, intents, ready);
  return { claims, halted: null };
}

/** P21: a canary that went wrong, or did not settle in time, halts sending. */
export async function stopForCanaries(trx: Trx, { brakes, at }: Under): Promise<void> {
  const causes = await settleCanaries(trx, { at, hours: brakes.canaryHours });
  for (const cause of causes) await halt(trx, cause, at);
}

/** Returns what may be claimed of each batch. Begins the canary of a batch of which nothing was sent. */
async function lanesToClaim(trx: Trx, request: ClaimRequest): Promise<Lanes | null> {
  const { brakes, at } = request;
  const lanes = await lanesOf(trx, request);
  if (!lanes || brakes.canary === 0) return lanes;
  const batches = lanes.lanes.flatMap(({ batch, throughId, waits }) =>
    throughId === null && waits !== 'date' ? [batch] : [],
  );
  await beginCanaries(trx, batches, { size: brakes.canary, at, day: throughDay(request) });
  return lanesOf(trx, request);
}

/** Another process considered this one dead and took over (P3): this one must stop, and a new one may start. */
export class TakenOver extends Error {}

const endedWorker = prepared<{ ended_at: string | null }>((db, slot) =>
  db
    .selectFrom('workers')
    .select('ended_at')
    .where('id', '=', slot<string>(0))
    .where('ended_at', 'is not', null),
);

/** P3: a process that was considered dead has lost its claims and makes no new ones. */
async function assertNotTakenOver(trx: Trx, workerId: string): Promise<void> {
  const [ended] = await endedWorker(trx, [workerId]);
  if (ended)
    throw new TakenOver(
      `another process took over worker ${workerId}, because its lock was free: it sends nothing more; start it again`,
    );
}

/** A time of null: now, or there is no such payout. */
type Sendable = { ready: number; again: number; nextAt: string | null; againAt: string | null };

/**
 * Counts the payouts that the sender could send now or later, and how many of them it must ask about first (P31). What a
 * brake keeps back does not count. `nextAt` is for those that were never sent, `againAt` for the others.
 */
export async function sendable(db: Db, only: ClaimScope & Under): Promise<Sendable> {
  const parts = await readyParts(db, only, await lanesOf(db, only));
  const going = parts.filter(({ waits }) => waits === null);
  const again = going.filter((part) => part.again);
  const first = going.filter((part) => !part.again);
  const count = (some: readonly ReadyPart[]): number => some.reduce((sum, one) => sum + one.count, 0);
  return {
    ready: count(going),
    again: count(again),
    nextAt: earliest(first.map(({ nextAt }) => nextAt)),
    againAt: earliest(again.map(({ nextAt }) => nextAt)),
  };
}

/** The earliest of these times; null where one of them is now, or there is none. */
function earliest(times: readonly (string | null)[]): string | null {
  const later = times.filter((time) => time !== null);
  return later.length < times.length ? null : (later.toSorted()[0] ?? null);
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
