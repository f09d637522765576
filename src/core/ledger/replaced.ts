import { type RawBuilder, sql } from 'kysely';
import { type CountedState, cameToNothing, type PayoutState, replacedAs } from '../domain/payout.ts';
import { idList } from '../storage/bulk.ts';
import { literals } from '../storage/dialect.ts';
import type { Db, Trx } from '../storage/ledger.ts';

/** The state of the payout with this id, now or at another time; null where there was none yet. */
type StateOf = (id: RawBuilder<unknown>) => RawBuilder<PayoutState | null>;
const stateNow: StateOf = (id) => sql`(select x.state from payouts x where x.id = ${id})`;

/**
 * Each payout `p` that came to nothing with the last payout of its chain of successors that was not cancelled. The one
 * place that decides which payouts are paid again, for every total, tile and table (P20). `of`: a condition on `p`. The
 * cross join keeps SQLite on the index of successors, of which there are few.
 */
function lastOfChain(of: RawBuilder<unknown>, stateOf: StateOf): RawBuilder<unknown> {
  return sql`with recursive chain (id, last, depth) as (
      select p.id, s.id, 1 from payouts s cross join payouts p
      where s.successor_of is not null and p.id = s.successor_of
        and ${stateOf(sql`p.id`)} in (${literals(cameToNothing)}) and ${of}
      union all
      select chain.id, n.id, chain.depth + 1 from chain join payouts n on n.successor_of = chain.last),
    replaced as (select id, last from (
      select chain.id, chain.last, row_number() over (partition by chain.id order by chain.depth desc) as place
      from chain where ${stateOf(sql`chain.last`)} <> 'cancelled') ends where place = 1)`;
}

/** True in SQL for a payout `p` of which no successor is left, or all were cancelled before they were sent. */
export const isNotPaidAgain: RawBuilder<boolean> = sql`not exists (
  with recursive later (id, state) as (
    select s.id, s.state from payouts s where s.successor_of = p.id
    union all
    select s.id, s.state from later join payouts s on s.successor_of = later.id)
  select 1 from later where later.state <> 'cancelled')`;

/** Payouts of a batch in one state that count otherwise: `elsewhere`: rows of its file with their successor in another batch. */
export type ReplacedSum = {
  batch_id: string;
  currency: string;
  state: PayoutState;
  counted: CountedState;
  elsewhere: boolean;
  n: bigint;
  amount: bigint;
};

/** Sums the payouts `p` that a successor pays again. Few payouts have one, so that no other is read. */
export async function replacedSums(
  db: Db | Trx,
  of: RawBuilder<unknown> = sql`true`,
  stateOf: StateOf = stateNow,
): Promise<ReplacedSum[]> {
  type Row = Omit<ReplacedSum, 'counted' | 'elsewhere'> & { last_state: PayoutState; apart: bigint };
  const { rows } = await sql<Row>`${lastOfChain(of, stateOf)}
    select w.batch_id, w.currency, w.state, w.last_state, w.apart, count(*) as n, sum(w.amount) as amount
    from (select p.batch_id, p.currency, p.amount, ${stateOf(sql`p.id`)} as state, ${stateOf(sql`e.id`)} as last_state,
        case when e.batch_id <> p.batch_id and not exists (
          select 1 from payouts o where o.id = p.successor_of and o.batch_id = p.batch_id) then 1 else 0 end as apart
      from replaced join payouts p on p.id = replaced.id join payouts e on e.id = replaced.last) w
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`.execute(db);
  return rows.map(({ last_state, apart, ...row }) => ({
    ...row,
    amount: BigInt(row.amount),
    elsewhere: BigInt(apart) === 1n,
    counted: replacedAs[last_state],
  }));
}

/** How one payout counts, and the reference of the successor that decides it. */
export type Replacement = { counted: CountedState; reference: string };

/** Of these payouts, those that a successor pays again, by id. */
export async function replacementsOf(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, Replacement>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: bigint; reference: string; state: PayoutState }>`
    ${lastOfChain(sql`p.id in ${idList(ids)}`, stateNow)}
    select replaced.id, e.reference, e.state from replaced join payouts e on e.id = replaced.last`.execute(
    db,
  );
  return new Map(rows.map(({ id, reference, state }) => [id, { counted: replacedAs[state], reference }]));
}

type Group = { batch_id?: string; currency: string; state: PayoutState; n: bigint; amount: bigint };

/** Groups by state, with the payouts that a successor pays again moved to how they count. Empty groups go. */
export function recounted<Row extends Group>(
  rows: readonly Row[],
  replaced: readonly ReplacedSum[],
): (Omit<Row, 'state'> & { state: CountedState })[] {
  type Counted = Omit<Row, 'state'> & { state: CountedState };
  const byBatch = rows.some((row) => row.batch_id !== undefined);
  const keyOf = ({ batch_id, currency, state }: Omit<Group, 'n' | 'amount'>): string =>
    JSON.stringify([byBatch ? batch_id : null, currency, state]);
  const moved = Map.groupBy(replaced, keyOf);
  const found = new Map<string, Counted>();
  const add = (row: Row, state: CountedState, { n, amount }: { n: bigint; amount: bigint }): void => {
    const key = JSON.stringify([byBatch ? row.batch_id : null, row.currency, state]);
    const known = found.get(key);
    found.set(key, { ...row, state, n: (known?.n ?? 0n) + n, amount: (known?.amount ?? 0n) + amount });
  };
  for (const row of rows) {
    const own = moved.get(keyOf(row)) ?? [];
    const left = own.reduce<{ n: bigint; amount: bigint }>(
      (rest, one) => ({ n: rest.n - one.n, amount: rest.amount - one.amount }),
      row,
    );
    if (left.n > 0n) add(row, row.state, left);
    for (const one of own) add(row, one.counted, one);
  }
  return [...found.values()];
}
