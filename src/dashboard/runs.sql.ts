import { latestRunFirst } from '../listing/listings.sql.ts';
import type { Db } from '../storage/ledger.ts';
import type { Run } from '../storage/tables/tables.ts';

/** Runs, the newest first, from `offset` on. */
export function newestRuns(db: Db, limit: number, offset: number): Promise<Run[]> {
  return db.selectFrom('runs').selectAll().orderBy(latestRunFirst).limit(limit).offset(offset).execute();
}
