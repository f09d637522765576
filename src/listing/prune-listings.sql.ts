import { sql } from 'kysely';
import type { Ledger } from '../storage/ledger.ts';
import { latestRunFirst, newestCompleteRun } from './listings.sql.ts';
import { uncheckedShortCuts } from './short-cuts.sql.ts';

const rowsPerDelete = 5_000;

/**
 * Drops the staged rows of all but the last `keep` runs, the newest complete one, which decisions, claims
 * and short cuts still rest on (P15, P20, P29), and the short cuts since, which the next whole listing checks. Some at a
 * time, so that other writers get their turn.
 */
export async function pruneListings(ledger: Ledger, keep: number): Promise<void> {
  const complete = await newestCompleteRun(ledger.db);
  const unchecked = (await uncheckedShortCuts(ledger.db)).map(({ id }) => id);
  const kept = new Set([complete?.id, ...unchecked]);
  const latest = ledger.db.selectFrom('runs').select('id').orderBy(latestRunFirst);
  const runs = await ledger.db
    .selectFrom('runs')
    .select('id')
    .where(sql<boolean>`exists (select 1 from listed where listed.run_id = runs.id)`)
    .where('id', 'not in', latest.limit(keep))
    .execute();
  for (const { id } of runs) {
    if (kept.has(id)) continue;
    for (let more = true; more; ) {
      more = await ledger.write(async (trx) => {
        const some = trx
          .selectFrom('listed')
          .select('transfer_id')
          .where('run_id', '=', id)
          .limit(rowsPerDelete);
        const gone = await trx
          .deleteFrom('listed')
          .where('run_id', '=', id)
          .where('transfer_id', 'in', some)
          .executeTakeFirst();
        return gone.numDeletedRows > 0n;
      });
    }
  }
}
