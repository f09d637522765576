import { isLoading } from '../core/ledger/batches.ts';
import type { Trx } from '../core/storage/ledger.ts';
import { unpair } from '../watching/listing/pairing.sql.ts';

/**
 * Deletes up to `limit` rows of an undecided batch, and with the last row the batch. Such rows have no
 * history yet. A decided batch stays untouched (P23), even where two processes hold the intake lock because
 * somebody deleted its file.
 */
export async function dropSome(trx: Trx, id: string, limit: number): Promise<{ done: boolean }> {
  if (!(await isLoading(trx, id))) return { done: true };
  const ids = await trx.selectFrom('payouts').select('id').where('batch_id', '=', id).limit(limit).execute();
  if (ids.length > 0) {
    const gone = ids.map((row) => row.id);
    await forgetThat(trx, gone);
    await trx.deleteFrom('payout_values').where('payout_id', 'in', gone).execute();
    await trx.deleteFrom('payouts').where('id', 'in', gone).execute();
  }
  if (ids.length === limit) return { done: false };
  await trx.deleteFrom('batch_totals').where('batch_id', '=', id).execute();
  await trx.deleteFrom('batches').where('id', '=', id).execute();
  return { done: true };
}

/**
 * Unlinks webhooks, list rows and discrepancies from payouts that never entered the ledger. Each such webhook
 * is matched again, and the next run pairs its list again.
 */
async function forgetThat(trx: Trx, ids: readonly bigint[]): Promise<void> {
  await unpair(trx, ids);
  await trx.updateTable('discrepancies').set({ payout_id: null }).where('payout_id', 'in', ids).execute();
  await trx
    .updateTable('webhooks')
    .set({ payout_id: null, applied_at: null, verdict: null, said: null, against: null, differences: null })
    .where('payout_id', 'in', ids)
    .execute();
  await trx.deleteFrom('inquiries').where('payout_id', 'in', ids).execute();
}
