import { type RawBuilder, sql } from 'kysely';
import type { CountedState, PayoutState } from '../core/domain/payout.ts';
import type { Sum } from '../core/domain/verdict.ts';
import { type ReplacedSum, recounted, replacedSums } from '../core/ledger/replaced.ts';
import { textsOf } from '../core/storage/bulk.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type Halves, joined, sums } from './discrepancies/run-facts.sql.ts';

type Money = Map<string, bigint>;

/**
 * What became of a batch. `ordered` and `paid`: minor units by currency. `unpaid`: how many of its payouts count as each
 * other state. `open`: its open discrepancies.
 */
export type BatchSums = {
  ordered: Money;
  paid: Money;
  paidCount: bigint;
  unpaid: Map<CountedState, bigint>;
  /** Minor units that a payout of another batch has paid again. */
  paidElsewhere: Money;
  open: bigint;
};

type Group = { batch: string; currency: string } & Sum;
type StateGroup = Group & { state: PayoutState };

/**
 * The sums of these batches. Paid payouts are by far the most, and are not read: they are what the totals of the intake
 * leave when all others are taken off. A batch without such totals is added up payout by payout.
 */
export async function batchSums(db: Db, batches: readonly string[]): Promise<Map<string, BatchSums>> {
  if (batches.length === 0) return new Map();
  const successors = await paidAgain(db, batches);
  const again = Map.groupBy(successors, ({ batch }) => batch);
  const totals = Map.groupBy(await totalsOf(db, batches, successors), ({ batch }) => batch);
  const [known, bare] = [batches.filter((id) => totals.has(id)), batches.filter((id) => !totals.has(id))];
  const groups = [...(await unpaidOf(db, known)), ...(await allOf(db, bare))];
  const byBatch = Map.groupBy(groups, ({ batch }) => batch);
  const open = await openOf(db, batches);
  const replaced = Map.groupBy(
    await replacedSums(db, sql`p.batch_id in ${textsOf(batches)}`),
    ({ batch_id }) => batch_id,
  );
  const found = new Map<string, BatchSums>();
  for (const id of batches) {
    const [own, ordered, more] = [byBatch.get(id) ?? [], totals.get(id), again.get(id) ?? []];
    const paid = ordered ? remaining(ordered, more, own) : addedUp(own, more);
    const moved = replaced.get(id) ?? [];
    const unpaid = unpaidStates(own, moved);
    found.set(id, { ...paid, unpaid, paidElsewhere: elsewhere(moved), open: open.get(id) ?? 0n });
  }
  return found;
}

type Paid = Pick<BatchSums, 'ordered' | 'paid' | 'paidCount'>;

/** What the totals leave when all that is not paid is taken off. `again`: payouts that pay others of the batch again. */
function remaining(totals: readonly Group[], again: readonly Group[], unpaid: readonly Group[]): Paid {
  const ordered: Money = new Map();
  const paid: Money = new Map();
  let paidCount = 0n;
  for (const { currency, amount } of totals) add(ordered, currency, amount);
  for (const { currency, count, amount } of [...totals, ...again]) {
    add(paid, currency, amount);
    paidCount += count;
  }
  for (const { currency, count, amount } of unpaid) {
    add(paid, currency, -amount);
    paidCount -= count;
  }
  return { ordered, paid, paidCount };
}

function addedUp(groups: readonly StateGroup[], again: readonly Group[]): Paid {
  const ordered: Money = new Map();
  const paid: Money = new Map();
  let paidCount = 0n;
  for (const { currency, amount } of again) add(ordered, currency, -amount);
  for (const { currency, state, count, amount } of groups) {
    const isPaid = state === 'success';
    add(ordered, currency, amount);
    add(paid, currency, isPaid ? amount : 0n);
    if (isPaid) paidCount += count;
  }
  return { ordered, paid, paidCount };
}

function add(money: Money, currency: string, amount: bigint): void {
  money.set(currency, (money.get(currency) ?? 0n) + amount);
}

function unpaidStates(groups: readonly StateGroup[], replaced: readonly ReplacedSum[]): BatchSums['unpaid'] {
  const states: BatchSums['unpaid'] = new Map();
  for (const { state, n } of recounted(
    groups.map(({ count, ...group }) => ({ ...group, n: count })),
    replaced,
  ))
    if (state !== 'success') states.set(state, (states.get(state) ?? 0n) + n);
  return states;
}

function elsewhere(replaced: readonly ReplacedSum[]): Money {
  const paid: Money = new Map();
  for (const one of replaced)
    if (one.elsewhere && one.counted === 'paid_again') add(paid, one.currency, one.amount);
  return paid;
}

/** The totals of the intake. All rows of a file are counted with its first currency; `again` are rows of no file. */
async function totalsOf(db: Db, batches: readonly string[], again: readonly Group[]): Promise<Group[]> {
  const { rows } = await sql<Omit<Group, 'count'>>`
    select batch_id as batch, currency, amount from batch_totals where batch_id in ${textsOf(batches)}
    order by 1, 2`.execute(db);
  const { rows: counts } = await sql<{ batch: string; n: bigint }>`
    select batch_id as batch, count(*) as n from payouts where batch_id in ${textsOf(batches)}
    group by 1`.execute(db);
  const left = new Map(counts.map(({ batch, n }) => [batch, n]));
  for (const { batch, count } of again) left.set(batch, (left.get(batch) ?? 0n) - count);
  return rows.map((row) => {
    const count = left.get(row.batch) ?? 0n;
    left.set(row.batch, 0n);
    return { ...row, count };
  });
}

/** The payouts by which `retry` pays others of the same batch again. `coalesce` keeps SQLite on their index. */
async function paidAgain(db: Db, batches: readonly string[]): Promise<Group[]> {
  const { rows } = await sql<Halves & Omit<Group, 'amount'>>`
    select coalesce(p.batch_id, '') as batch, p.currency, ${sums(sql`p.amount`)} from payouts p
    join payouts earlier on earlier.id = p.successor_of and earlier.batch_id = p.batch_id
    where p.successor_of is not null and coalesce(p.batch_id, '') in ${textsOf(batches)}
    group by 1, 2`.execute(db);
  return rows.map(({ hi, lo, ...row }) => ({ ...row, amount: joined({ hi, lo }) }));
}

/** `coalesce` keeps SQLite on the index of states. */
function unpaidOf(db: Db, batches: readonly string[]): Promise<StateGroup[]> {
  return grouped(
    db,
    batches,
    (ids) => sql`coalesce(p.batch_id, '') in ${ids} and p.state in
      ('held', 'ready', 'sending', 'pending', 'unknown', 'failed', 'refused', 'returned', 'cancelled')`,
  );
}

function allOf(db: Db, batches: readonly string[]): Promise<StateGroup[]> {
  return grouped(db, batches, (ids) => sql`p.batch_id in ${ids}`);
}

async function grouped(
  db: Db,
  batches: readonly string[],
  among: (ids: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<StateGroup[]> {
  if (batches.length === 0) return [];
  const { rows } = await sql<Halves & Omit<StateGroup, 'amount'>>`
    select p.batch_id as batch, p.currency, p.state, ${sums(sql`p.amount`)}
    from payouts p where ${among(textsOf(batches))} group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return rows.map(({ hi, lo, ...row }) => ({ ...row, amount: joined({ hi, lo }) }));
}

async function openOf(db: Db, batches: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ batch: string; n: bigint }>`
    select batch_id as batch, count(*) as n from discrepancies
    where state = 'open' and batch_id in ${textsOf(batches)} group by 1`.execute(db);
  return new Map(rows.map(({ batch, n }) => [batch, n]));
}
