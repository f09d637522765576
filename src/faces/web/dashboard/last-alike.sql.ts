import type { Db } from '../../../core/storage/ledger.ts';
import type { Batch } from '../../../core/storage/tables/tables.ts';
import { batchTotals } from '../../../sending/approvals.sql.ts';

/** The batch of the same columns that was taken in last before this one, with its totals in minor units. */
export async function findLastAlike(db: Db, { id, columns, created_at }: Batch) {
  const batch = await db
    .selectFrom('batches')
    .select(['id', 'created_at', 'row_count'])
    .where('columns', '=', columns)
    .where('phase', '=', 'loaded')
    .where('id', '<>', id)
    .where('created_at', '<=', created_at)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return batch && { ...batch, totals: await batchTotals(db, batch.id) };
}
