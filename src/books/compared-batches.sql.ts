import { sql } from 'kysely';
import { textsOf } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';

/** Notes that a run states each batch as it is now. The notes of older runs go: only the newest is asked about. */
export async function noteCompared(trx: Trx, run: string): Promise<void> {
  await trx.deleteFrom('compared_batches').execute();
  await sql`insert into compared_batches (batch_id, run_id, version)
    select id, ${run}, version from batches where phase <> 'loading'`.execute(trx);
}

/** Which of these batches are as this run stated them: nothing of them has changed since. */
export async function unchangedSince(db: Db, run: string, batches: readonly string[]): Promise<Set<string>> {
  if (batches.length === 0) return new Set();
  const rows = await db
    .selectFrom('compared_batches')
    .innerJoin('batches', 'batches.id', 'compared_batches.batch_id')
    .select('batches.id')
    .where('batches.id', 'in', textsOf(batches))
    .where('compared_batches.run_id', '=', run)
    .whereRef('compared_batches.version', '=', 'batches.version')
    .execute();
  return new Set(rows.map(({ id }) => id));
}
