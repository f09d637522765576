import { type RawBuilder, sql } from 'kysely';
import { latestRunFirst } from '../listing/listings.sql.ts';
import { jsonText } from '../storage/dialect.ts';
import type { Db } from '../storage/ledger.ts';
import type { Run } from '../storage/tables/tables.ts';

/** The names of two runs, the one that was begun earlier first. */
export type RunPair = { older: string; newer: string };

/** Both runs, the one begun earlier first, whatever the clock said; fewer where the ledger does not have them. */
export async function runsInOrder(db: Db, names: [string, string]): Promise<Run[]> {
  const runs = await db
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', names)
    .orderBy(latestRunFirst)
    .execute();
  return runs.toReversed();
}

/** The cells of one row as both runs have it, JSON arrays of texts; null where a run has none of that name. */
export type Twice = { was: string | null; now: string | null };

/** A cell of the row `r`. */
const cellOf = (place: number): RawBuilder<unknown> => jsonText(sql`r.cells`, place);

/** The value in the older and in the newer run, of rows that are grouped. */
const inEach = (
  { older, newer }: RunPair,
  value: RawBuilder<unknown>,
  as: [string, string],
): RawBuilder<unknown> =>
  sql`max(case when r.run_id = ${older} then ${value} end) as ${sql.ref(as[0])},
    max(case when r.run_id = ${newer} then ${value} end) as ${sql.ref(as[1])}`;

const rowsOfBoth = ({ older, newer }: RunPair, sheet: string): RawBuilder<unknown> =>
  sql`run_rows r where r.run_id in (${older}, ${newer}) and r.sheet = ${sheet} and r.position > 0`;

/**
 * Rows of a sheet, paired by their first cell, in which one of the cells at `watched` differs. They are grouped in the
 * database and not joined: a sheet may hold a million rows, and has no index by name.
 */
export async function differingRows(
  db: Db,
  pair: RunPair,
  sheet: string,
  watched: readonly [number, ...number[]],
): Promise<Twice[]> {
  const differs = watched.map(
    (cell) => sql`coalesce(${jsonText(sql`w.was`, cell)}, '') <> coalesce(${jsonText(sql`w.now`, cell)}, '')`,
  );
  const { rows } = await sql<Twice>`
    select w.was, w.now from (select ${cellOf(0)} as name, ${inEach(pair, sql`r.cells`, ['was', 'now'])}
      from ${rowsOfBoth(pair, sheet)} group by 1) w
    where w.was is null or w.now is null or ${sql.join(differs, sql` or `)} order by w.name`.execute(db);
  return rows;
}

/** A row of statement-rows.csv that one of the runs has more often; `times` below zero: the older one. */
export type RowChange = { cells: string; times: bigint; was_state: string | null; now_state: string | null };

/** Lines whose rows are about one transfer; the others are about the payout, whatever is known of its transfer. */
const ofTransfers = sql`('foreign', 'unexplained', 'amount_differences', 'timing')`;

/** Rows of the statement that came or went between the runs, with the payout's state in each. */
export async function changedRows(db: Db, pair: RunPair): Promise<RowChange[]> {
  const { rows } = await sql<RowChange>`
    with changed as materialized (select min(r.cells) as cells, min(${cellOf(2)}) as name,
        sum(case when r.run_id = ${pair.newer} then 1 else -1 end) as times
      from ${rowsOfBoth(pair, 'statement-rows')}
      group by ${cellOf(0)}, ${cellOf(1)}, ${cellOf(2)}, ${cellOf(5)},
        case when ${cellOf(1)} in ${ofTransfers} then ${cellOf(4)} else '' end
      having sum(case when r.run_id = ${pair.newer} then 1 else -1 end) <> 0),
    states as materialized (select ${cellOf(0)} as name, ${inEach(pair, cellOf(8), ['was_state', 'now_state'])}
      from ${rowsOfBoth(pair, 'payouts')} and ${cellOf(0)} in (select name from changed) group by 1)
    select c.cells, c.times, s.was_state, s.now_state from changed c left join states s on s.name = c.name
    order by ${jsonText(sql`c.cells`, 0)}, ${jsonText(sql`c.cells`, 1)}, c.name, c.cells`.execute(db);
  return rows;
}
