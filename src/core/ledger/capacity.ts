import { sql } from 'kysely';
import type { Db } from '../storage/ledger.ts';

const half = 2n ** 31n;

/** Returns the total of all batches by currency, in minor units. It adds halves, so no sum can overflow. */
export async function takenTotals(db: Db): Promise<Map<string, bigint>> {
  const rows = await db
    .selectFrom('batch_totals')
    .innerJoin('batches', 'batches.id', 'batch_totals.batch_id')
    .select([
      'batch_totals.currency',
      sql<bigint>`sum(batch_totals.amount / ${half})`.as('high'),
      sql<bigint>`sum(batch_totals.amount % ${half})`.as('low'),
    ])
    .groupBy('batch_totals.currency')
    .execute();
  return new Map(rows.map(({ currency, high, low }) => [currency, high * half + low]));
}
