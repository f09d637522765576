import { sql } from 'kysely';
import { idList } from '../core/storage/bulk.ts';
import { literals } from '../core/storage/dialect.ts';
import type { Trx } from '../core/storage/ledger.ts';
import { goesAt, type Likeness, type NearTo, neverPaid } from './likeness.sql.ts';

/**
 * Finds payouts that came after these ones, by id, in other batches, and are near to a payment of now: with the same account,
 * currency and amount. One of these that is paid again now may repeat them. The newest first.
 */
export async function laterLikes(
  trx: Trx,
  ids: readonly bigint[],
  { since, until, now }: ReturnType<NearTo>,
): Promise<(Likeness & { batch: string })[]> {
  type Found = { row_number: bigint; reference: string; batch_id: string };
  type Row = Found & { earlier: string; earlier_batch: string; created_at: string };
  const { rows } = await sql<Row>`select n.row_number, n.reference, n.batch_id,
      p.reference as earlier, p.batch_id as earlier_batch, b.created_at
    from payouts n cross join payouts p join batches b on b.id = p.batch_id
    where n.id in ${idList(ids)} and p.account_number = n.account_number and p.currency = n.currency
      and p.amount = n.amount and p.id > n.id and p.batch_id <> n.batch_id and p.state not in (${literals(neverPaid)})
      and ${goesAt(sql`${now}`)} >= ${since} and p.pay_on <= ${until}
    order by n.id, b.created_at desc, p.id`.execute(trx);
  return rows.map((one) => ({
    row: Number(one.row_number),
    reference: one.reference,
    batch: one.batch_id,
    earlierReference: one.earlier,
    earlierBatch: one.earlier_batch,
    earlierAt: one.created_at,
  }));
}
