import { type RawBuilder, sql } from 'kysely';
import type { PayoutState } from '../domain/payout.ts';
import { textsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';

/** So many payouts of a batch in one state and currency, and their amount in minor units. */
export type StateSum = { batch_id: string; state: PayoutState; currency: string; n: bigint; amount: bigint };

/**
 * Counts and sums payouts by batch, state and currency, of these batches or of all. The kept totals say it of all payouts
 * that have a history (`totals.ts`); only the rows of batches that are still being taken in are counted.
 * The cross join keeps SQLite from reading every payout for those.
 */
export async function stateSums(db: Db | Trx, batches?: readonly string[]): Promise<StateSum[]> {
  const among = (column: string): RawBuilder<unknown> =>
    batches ? sql`and ${sql.ref(column)} in ${textsOf(batches)}` : sql``;
  const { rows } = await sql<StateSum>`
    select batch_id, state, currency, sum(n) as n, sum(amount) as amount from (
      select t.batch_id, t.state, t.currency, t.n, t.amount from payout_totals t where t.n > 0 ${among('t.batch_id')}
      union all
      select p.batch_id, p.state, p.currency, 1, p.amount
      from batches b cross join payouts p
      where p.batch_id = b.id and b.phase <> 'loaded' and p.history_seq = 0 ${among('b.id')}) s
    group by batch_id, state, currency order by batch_id, currency, state`.execute(db);
  return rows.map((row) => ({ ...row, n: BigInt(row.n), amount: BigInt(row.amount) }));
}
