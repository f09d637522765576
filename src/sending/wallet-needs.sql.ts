import { sql } from 'kysely';
import type { Db } from '../core/storage/ledger.ts';
import { isChecked } from './precheck.sql.ts';

/** The currencies of a wallet that pays this ledger's payouts: all that it ever had, and those of the configuration. */
export async function possibleCurrencies(db: Db, configured: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('payout_totals').select('currency').distinct().execute();
  return [...new Set([...rows.map(({ currency }) => currency), ...configured])].toSorted();
}

/**
 * What may go by now of a batch, and what batches that may go before it still take: minor units by currency. `day`: the
 * newest whose payouts may go (P38).
 */
export async function needs(
  db: Db,
  batch: string,
  day: string,
): Promise<{ currency: string; own: bigint; earlier: bigint }[]> {
  const { rows } = await sql<{ currency: string; own: bigint; earlier: bigint | null }>`
    with later as (
      select batch_id, currency, cast(sum(amount) as bigint) as amount from payouts
      where state = 'ready' and pay_on <> '' and pay_on > ${day} group by batch_id, currency
    ), ready as (
      select t.batch_id, t.currency, t.n, t.amount - coalesce(later.amount, 0) as amount from payout_totals as t
      left join later on later.batch_id = t.batch_id and later.currency = t.currency
      where t.state = 'ready' and t.n > 0
    )
    select o.currency, o.amount as own, (select sum(t.amount) from ready as t
      inner join batches on batches.id = t.batch_id
      where t.currency = o.currency and t.batch_id <> o.batch_id
        and batches.phase = 'loaded' and ${isChecked}) as earlier
    from ready as o where o.batch_id = ${batch} and o.amount > 0
    order by o.currency`.execute(db);
  return rows.map(({ currency, own, earlier }) => ({ currency, own, earlier: BigInt(earlier ?? 0n) }));
}
