import { latestRunFirst } from '../listing/listings.sql.ts';
import type { Db } from '../storage/ledger.ts';
import type { Run } from '../storage/tables/tables.ts';

/** Runs, the newest first, from `offset` on. */
export function newestRuns(db: Db, limit: number, offset: number): Promise<Run[]> {
  return db.selectFrom('runs').selectAll().orderBy(latestRunFirst).limit(limit).offset(offset).execute();
}

export function findRun(db: Db, id: string): Promise<Run | undefined> {
  return db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst();
}
