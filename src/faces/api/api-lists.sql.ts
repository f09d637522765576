import { sql } from 'kysely';
import type { Db } from '../../core/storage/ledger.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import { latestRunFirst } from '../../watching/listing/listings.sql.ts';

/** Runs, the newest first; those before `after` where it is given. */
export function runsBefore(db: Db, limit: number, after: string | undefined): Promise<Run[]> {
  return db
    .selectFrom('runs')
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`rowid < (select r.rowid from runs r where r.id = ${after})`),
    )
    .orderBy(latestRunFirst)
    .limit(limit)
    .execute();
}
