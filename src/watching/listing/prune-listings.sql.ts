import { type RawBuilder, sql } from 'kysely';
import type { Ledger } from '../../core/storage/ledger.ts';
import { latestRunFirst, newestCompleteRun, transferRanges, unreplacedRuns } from './listings.sql.ts';
import { uncheckedShortCuts } from './short-cuts.sql.ts';

/**
 * Drops the staged rows of old runs. Keeps the last `keep` runs and the newest complete one, on which decisions, claims
 * and short cuts rest (P15, P20, P29). Also keeps the short cuts since, which the next full listing checks. Of other runs
 * since, it keeps each row until a later run shows the same transfer: only newer evidence replaces it. The same holds for
 * each account in `foreign`, which may be asked again (P31). Works in steps, so that other writers get a turn.
 */
export async function pruneListings(ledger: Ledger, keep: number, foreign: readonly bigint[]): Promise<void> {
  const kept = new Set<string | undefined>();
  const unreplaced = new Set<string>();
  for (const others of await othersOfEach(ledger, foreign)) {
    const complete = await newestCompleteRun(ledger.db, others);
    const unchecked = await uncheckedShortCuts(ledger.db, others);
    for (const id of [complete?.id, ...unchecked.map((one) => one.id)]) kept.add(id);
    for (const id of await unreplacedRuns(ledger.db, complete?.id)) unreplaced.add(id);
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
    await dropRows(ledger, id, unreplaced.has(id) ? listedAgain : always);
  }
}

const always = sql<boolean>`1 = 1`;
/** True where a later run of the same origin lists the transfer of row `l` too. */
const listedAgain = sql<boolean>`exists (select 1 from runs r join runs m on m.rowid > r.rowid and m.origin_id = r.origin_id
  where r.id = l.run_id and exists (select 1 from listed n where n.run_id = m.id and n.transfer_id = l.transfer_id))`;

async function dropRows(ledger: Ledger, run: string, which: RawBuilder<boolean>): Promise<void> {
  for await (const { after, upTo } of transferRanges(ledger.db, run)) {
    await ledger.write((trx) => {
      const upper = upTo === null ? sql`` : sql` and l.transfer_id <= ${upTo}`;
      const some = sql`select l.transfer_id from listed l
        where l.run_id = ${run} and l.transfer_id > ${after}${upper} and ${which}`;
      return sql`delete from listed where run_id = ${run} and transfer_id in (${some})`.execute(trx);
    });
  }
}

/** For this account and each foreign origin: the origins of all others. */
async function othersOfEach(ledger: Ledger, foreign: readonly bigint[]): Promise<(readonly bigint[])[]> {
  if (foreign.length === 0) return [[]];
  const rows = await ledger.db.selectFrom('origins').select('id').execute();
  const all = [0n, ...rows.map(({ id }) => id)];
  return [foreign, ...foreign.map((one) => all.filter((id) => id !== one))];
}
