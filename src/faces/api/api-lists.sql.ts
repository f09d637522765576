import { sql } from 'kysely';
import type { Db } from '../../core/storage/ledger.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import { latestRunFirst } from '../../watching/listing/listings.sql.ts';

/** The names of batches, the newest first; those behind `after` where it is given. */
export async function batchesAfter(db: Db, limit: number, after: string | undefined): Promise<string[]> {
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at < (select b.created_at from batches b where b.id = ${after})
          or (created_at = (select b.created_at from batches b where b.id = ${after}) and id > ${after}))`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

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
