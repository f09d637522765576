import type { Db } from '../../../core/storage/ledger.ts';
import type { Run } from '../../../core/storage/tables/tables.ts';
import { latestRunFirst } from '../../../watching/listing/listings.sql.ts';

/** Runs, the newest first, from `offset` on. */
export function newestRuns(db: Db, limit: number, offset: number): Promise<Run[]> {
  return db.selectFrom('runs').selectAll().orderBy(latestRunFirst).limit(limit).offset(offset).execute();
}
