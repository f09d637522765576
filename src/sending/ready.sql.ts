import { type RawBuilder, sql } from 'kysely';
import { fileMayGo } from '../core/ledger/batch-files.ts';
import { columns, farAhead, type Row } from '../core/ledger/projection.ts';
import { idList } from '../core/storage/bulk.ts';
import { perDialect } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared, unseen } from '../core/storage/prepared.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { asksForPayees, isApproved } from './approved.sql.ts';
import type { Brakes } from './brakes.ts';
import { type ClaimRequest, type ClaimScope, type Cleared, throughDay, type Under } from './claim-request.ts';
import { type Lane, type Lanes, lanesOf } from './lanes.sql.ts';
import { needsApprovalOfPayees } from './payee-facts.ts';
import { isChecked } from './precheck.sql.ts';

/** How many lanes one turn looks at: more than a turn has slots for are never needed. */
export const lanesATurn = 50;

/** A payout with all that `record` needs, so that the claiming transaction does not read it twice. */
export type Ready = Row & Pick<Payout, (typeof claimColumns)[number]>;

const readyState = unseen(sql<'ready'>`${'ready'}`);

const claimColumns = ['reference', 'body', 'amount', 'currency', 'successor_of'] as const;

/**
 * Returns the next payouts that may be claimed, in their order, before the checks of each payout. Those that the service
 * was asked about take slots before those never sent, because answers age.
 */
export async function readyOf(trx: Trx, request: ClaimRequest, lanes: Lanes | null): Promise<Ready[]> {
  const again = request.cleared.size === 0 ? [] : await clearedOf(trx, request, lanes);
  if (again.length === request.limit) return again;
  const first = await neverSent(trx, { ...request, limit: request.limit - again.length }, lanes);
  return again.length === 0 ? first : [...again, ...first].toSorted(byId);
}

/** The cleared payouts whose number of attempts is still the one that the answer was about. */
async function clearedOf(trx: Trx, request: ClaimRequest, lanes: Lanes | null): Promise<Ready[]> {
  const { cleared } = request;
  const base = claimable(trx, request, { ...request, ...whenOf(request) })
    .where('payouts.id', 'in', idList([...cleared.keys()]))
    .where(sentBefore);
  return inLanes(base, lanes, request.limit, (row) => cleared.get(row.id) === row.attempt_count);
}

function neverSent(trx: Trx, request: ClaimRequest, lanes: Lanes | null): Promise<Ready[]> {
  if (!lanes && request.payouts === undefined) return readyOfBatches(trx, request);
  const base = claimable(trx, request, { ...request, ...whenOf(request) });
  return inLanes(base.where(firstTime), lanes, request.limit, () => true);
}

async function inLanes(
  base: ReturnType<typeof claimable>,
  lanes: Lanes | null,
  limit: number,
  may: (row: Ready) => boolean,
): Promise<Ready[]> {
  const found: Ready[] = [];
  if (!lanes) found.push(...(await base.where('payouts.state', '=', readyState).execute()));
  for (const lane of lanes ? openLanes(lanes).slice(0, lanesATurn) : [])
    found.push(...(await base.where(ofLane(lane)).execute()));
  return found.filter(may).toSorted(byId).slice(0, limit);
}

const byId = (a: Ready, b: Ready): number => (a.id < b.id ? -1 : 1);

/**
 * True for a payout of which nothing was ever sent, and that pays nothing again: it needs no answer of the service (P31).
 * An attempt proven not sent is no send (P7): `submitted_at` is empty again.
 */
const firstTime: RawBuilder<boolean> = sql`(payouts.submitted_at is null and payouts.unseen_sends = 0
  and payouts.successor_of is null)`;

/** True for all others: they need an answer of the service first. The text must match the partial index. */
export const sentBefore: RawBuilder<boolean> = sql`(submitted_at is not null or unseen_sends > 0 or successor_of is not null)`;

// The index is named: without statistics SQLite would read all that is ready, and most of that was never sent.
const again = sql<bigint>`(select id from payouts indexed by payouts_again
    where state = 'ready' and ${sentBefore})`;

/** The ready successors, of which there are few. The index is named, as for {@link nextToAsk}. */
export function readySuccessors(db: Db | Trx) {
  return db
    .selectFrom('payouts')
    .select(['id', 'reference', 'submitted_at', 'successor_of'])
    .where('id', 'in', again)
    .where('successor_of', 'is not', null)
    .execute();
}

/**
 * Returns the next payouts that the service must be asked about before they may be claimed (P31), as far as the brakes
 * let them go. Leaves out those of `except`. Where there are none, it costs one index step.
 */
export async function nextToAsk(
  db: Db,
  request: ClaimScope & Under & { limit: number; except: readonly bigint[] },
): Promise<Cleared> {
  const { limit, except } = request;
  const { rows } = await sql<{ id: bigint }>`select id from ${again} as again limit 1`.execute(db);
  if (rows.length === 0) return new Map();
  const lanes = await lanesOf(db, request);
  const base = claimable(db, request, { ...request, ...whenOf(request) })
    .where('payouts.id', 'in', again)
    .where('payouts.id', 'not in', idList(except));
  const found = await inLanes(base, lanes, limit, () => true);
  return new Map(found.map(({ id, attempt_count }) => [id, attempt_count]));
}

/** What a claim asks for, as values or as placeholders. */
type Asked = {
  at: string | RawBuilder<string>;
  /** As {@link farAhead} has it. */
  far: string | RawBuilder<string>;
  /** As {@link throughDay} has it. */
  day: string | RawBuilder<string>;
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
    .where((eb) => {
      const { at, far } = asked;
      const waits = eb.and([
        eb('payouts.turned_away_until', '>', at),
        eb('payouts.turned_away_until', '<=', far),
      ]);
      return eb.or([eb('payouts.turned_away_until', 'is', null), eb.not(waits)]);
    })
    .where('payouts.pay_on', '<=', asked.day)
    .$if(needsApprovalOfPayees(brakes.payees), (q) =>
      q.where(sql<boolean>`payouts.batch_id not in ${askingBatches(brakes)}`),
    )
    .where(ofOpenBatch(db, brakes, asked), '=', sql.lit(1n))
    .$if(payouts !== undefined, (q) => q.where('payouts.id', 'in', [...(payouts ?? [])]))
    .orderBy('payouts.id')
    .limit(sql<number>`cast(${asked.limit} as bigint)`)
    .modifyEnd(unlessLocked);
}

/**
 * Skips payouts that another session's open transaction has locked. Waiting for them would keep the ledger's one write
 * lock, which this transaction holds. SQLite has no row locks.
 */
const unlessLocked = perDialect(sql``, sql`for update of payouts skip locked`);

/** Of the batches with ready payouts, those that wait for whom they pay. The database finds them once, not for each payout. */
function askingBatches(brakes: Brakes): RawBuilder<unknown> {
  const next = (after: RawBuilder<unknown>) =>
    sql`(select min(p.batch_id) from payouts as p where p.state = 'ready'${after})`;
  return sql`(with recursive going (id) as (select ${next(sql``)}
      union all select ${next(sql` and p.batch_id > going.id`)} from going where going.id is not null)
    select id from going where id is not null and ${asksForPayees(brakes, sql.ref('going.id'))})`;
}

/**
 * Selects 1 for a payout whose batch may be sent. As a value, not a join, it lets the database read payouts in the order of
 * the index, up to the limit. For a join it might read and sort everything that is ready.
 */
function ofOpenBatch(db: Db | Trx, brakes: Brakes, { batches }: Asked) {
  return db
    .selectFrom('batches')
    .select(sql<bigint>`1`.as('may_go'))
    .whereRef('batches.id', '=', sql.ref('payouts.batch_id'))
    .where('batches.phase', '=', 'loaded')
    .where('batches.held', '=', sql.lit(0n))
    .where(fileMayGo)
    .where(isApproved(brakes))
    .$if(brakes.looksAhead === true, (q) => q.where(isChecked))
    .$if(batches !== undefined, (q) => q.where('batches.id', 'in', [...(batches ?? [])]));
}

type Query = ReturnType<typeof prepared<Ready>>;

/** The pauses that count now, and the days whose payouts may go. */
function whenOf(under: Under): { far: string; day: string } {
  return { far: farAhead(under.at), day: throughDay(under) };
}

/** The query of a sender's turns, kept by the brakes and the number of batches that it was built for. */
const kept = new WeakMap<Brakes, Map<number | undefined, Query>>();

function readyOfBatches(trx: Trx, request: ClaimRequest): Promise<Ready[]> {
  const { brakes, at, limit, batches } = request;
  const own = kept.get(brakes) ?? new Map<number | undefined, Query>();
  kept.set(brakes, own);
  const query =
    own.get(batches?.length) ??
    prepared<Ready>((db, slot) => {
      const among = batches && { batches: batches.map((_, i) => slot<string>(4 + i)) };
      const when = { at: slot<string>(0), far: slot<string>(1), day: slot<string>(3) };
      const asked = { ...when, limit: slot<number>(2), ...among };
      return claimable(db, { brakes }, asked).where('payouts.state', '=', readyState).where(firstTime);
    });
  own.set(batches?.length, query);
  return query(trx, [at, farAhead(at), BigInt(limit), throughDay(request), ...(batches ?? [])]);
}

export function openLanes({ lanes }: Lanes): Lane[] {
  return lanes.filter(({ waits }) => waits === null);
}

/** The condition of one lane. The state is written out so that the database can use the index of what is ready. */
export function ofLane({ batch, currency, payOn, marked, throughId }: Lane): RawBuilder<boolean> {
  const through = throughId === null ? sql`` : sql` and payouts.id <= ${throughId}`;
  return sql<boolean>`(payouts.state = 'ready' and payouts.batch_id = ${batch} and payouts.currency = ${currency}
    and payouts.pay_on = ${payOn} and payouts.approval_needed = ${marked ? 1n : 0n}${through})`;
}
