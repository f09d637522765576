import type { Db } from '../core/storage/ledger.ts';

/** The id of the newest attempt, 0 before the first: all later attempts have a higher one. */
export async function newestAttempt(db: Db): Promise<bigint> {
  const row = await db
    .selectFrom('attempts')
    .select((eb) => eb.fn.max<bigint | null>('id').as('newest'))
    .executeTakeFirst();
  return row?.newest ?? 0n;
}

/** The batches from which this worker sent after that attempt. */
export async function batchesSentFrom(db: Db, workerId: string, after: bigint): Promise<Set<string>> {
  const rows = await db
    .selectFrom('attempts')
    .innerJoin('payouts', 'payouts.id', 'attempts.payout_id')
    .select('payouts.batch_id')
    .distinct()
    .where('attempts.id', '>', after)
    .where('attempts.worker_id', '=', workerId)
    .execute();
  return new Set(rows.map((row) => row.batch_id));
}
