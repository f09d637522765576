import { sql } from 'kysely';
import type { Ledger } from '../storage/ledger.ts';
import { latestRunFirst, newestCompleteRun, unprovenRun } from './listings.sql.ts';
import { uncheckedShortCuts } from './short-cuts.sql.ts';

const rowsPerDelete = 5_000;

/**
 * Drops the staged rows of old runs. Keeps the last `keep` runs and the newest complete one, on which decisions, claims
 * and short cuts rest (P15, P20, P29). Also keeps the unproven list of an adopted ledger, and the short cuts since, which the next full listing checks. The same
 * runs are kept for each account in `foreign`, which may be asked again (P31). Works in steps, so that other writers
 * get a turn.
 */
export async function pruneListings(ledger: Ledger, keep: number, foreign: readonly bigint[]): Promise<void> {
  const kept = new Set<string | undefined>();
  for (const others of await othersOfEach(ledger, foreign)) {
    const complete = await newestCompleteRun(ledger.db, others);
    const unchecked = await uncheckedShortCuts(ledger.db, others);
    const unproven = await unprovenRun(ledger.db, complete?.id);
    for (const id of [complete?.id, unproven, ...unchecked.map((one) => one.id)]) kept.add(id);
  }
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

/** For this account and each foreign origin: the origins of all others. */
async function othersOfEach(ledger: Ledger, foreign: readonly bigint[]): Promise<(readonly bigint[])[]> {
  if (foreign.length === 0) return [[]];
  const rows = await ledger.db.selectFrom('origins').select('id').execute();
  const all = [0n, ...rows.map(({ id }) => id)];
  return [foreign, ...foreign.map((one) => all.filter((id) => id !== one))];
}
