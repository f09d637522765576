import { type RawBuilder, sql } from 'kysely';
import { jsonText } from '../core/storage/dialect.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Run } from '../core/storage/tables/tables.ts';
import { latestRunFirst } from '../watching/listing/listings.sql.ts';
import { frozenNumber, isRowOf } from './run-sheets.sql.ts';
import { type NamedCells, named, storedCells } from './sheet.ts';

/** The names of two runs, the earlier first. */
export type RunPair = { older: string; newer: string };

/** Both runs, the earlier first, whatever the clock said. Fewer when the ledger does not have them. */
export async function runsInOrder(db: Db, names: [string, string]): Promise<Run[]> {
  const runs = await db
    .selectFrom('runs')
    .selectAll()
    .where('id', 'in', names)
    .orderBy(latestRunFirst)
    .execute();
  return runs.toReversed();
}

/** A row in both runs; null when a run has none of that name. */
export type Twice = { was: NamedCells | null; now: NamedCells | null };

/** A sheet of both runs. Each has its own header: another version may have frozen it with other columns. */
type SheetPair = {
  sheet: string;
  headers: Record<keyof RunPair, string[]>;
  frozen: Record<keyof RunPair, bigint>;
};

async function sheetPair(db: Db, pair: RunPair, sheet: string): Promise<SheetPair> {
  const frozen = { older: await frozenNumber(db, pair.older), newer: await frozenNumber(db, pair.newer) };
  const header = async (number: bigint): Promise<string[]> => {
    const { rows } = await sql<{ cells: string }>`select r.cells from run_rows r
      where r.sheet = ${sheet} and r.position = 0 and ${isRowOf(sql`${number}`)}`.execute(db);
    return rows[0] ? storedCells(rows[0].cells) : [];
  };
  return { sheet, frozen, headers: { older: await header(frozen.older), newer: await header(frozen.newer) } };
}

/** The cell of that name in a row of one of the runs; empty where it has no such column. */
function cellIn({ headers }: SheetPair, run: keyof RunPair, name: string, cells: RawBuilder<unknown>) {
  const place = headers[run].indexOf(name);
  return place === -1 ? sql`''` : sql`coalesce(${jsonText(cells, place)}, '')`;
}

/** The cell of that name in row `r`, whichever run it is of. */
function cell(pair: SheetPair, name: string): RawBuilder<unknown> {
  const [was, now] = [cellIn(pair, 'older', name, sql`r.cells`), cellIn(pair, 'newer', name, sql`r.cells`)];
  return sql`case when r.side = 0 then ${was} else ${now} end`;
}

/** The older and the newer run's value in grouped rows. */
const inEach = (value: RawBuilder<unknown>, [was, now]: [string, string]): RawBuilder<unknown> =>
  sql`max(case when r.side = 0 then ${value} end) as ${sql.ref(was)},
    max(case when r.side = 1 then ${value} end) as ${sql.ref(now)}`;

/** The rows `r` of a sheet in both runs; `side` is 0 in the older run and 1 in the newer. */
function rowsOfBoth({ frozen, sheet }: SheetPair, which: 'all' | 'own'): RawBuilder<unknown> {
  const [older, newer] = [isRowOf(sql`${frozen.older}`), isRowOf(sql`${frozen.newer}`)];
  const rowsOf = (side: bigint, own: RawBuilder<boolean>, other: RawBuilder<boolean>) =>
    sql`select ${sql.lit(side)} as side, r.cells from run_rows r where r.sheet = ${sheet} and r.position > 0 and ${own}
      ${which === 'own' ? sql`and not ${other}` : sql``}`;
  return sql`(${rowsOf(0n, older, newer)} union all ${rowsOf(1n, newer, older)}) r`;
}

/** The rows of a sheet that may differ. A row that both runs share is equal, unless its columns have other names. */
const rowsThatDiffer = (pair: SheetPair): RawBuilder<unknown> =>
  rowsOfBoth(pair, JSON.stringify(pair.headers.older) === JSON.stringify(pair.headers.newer) ? 'own' : 'all');

/**
 * Rows of a sheet, paired by the column `name`, in which one of the `watched` columns differs. They are grouped in the
 * database and not joined: a sheet may hold a million rows, and has no index by name.
 */
export async function differingRows(
  db: Db,
  runs: RunPair,
  sheet: string,
  { name, watched }: { name: string; watched: readonly [string, ...string[]] },
): Promise<Twice[]> {
  const pair = await sheetPair(db, runs, sheet);
  const differs = watched.map(
    (column) =>
      sql`${cellIn(pair, 'older', column, sql`w.was`)} <> ${cellIn(pair, 'newer', column, sql`w.now`)}`,
  );
  const { rows } = await sql<{ was: string | null; now: string | null }>`
    select w.was, w.now from (select ${cell(pair, name)} as name, ${inEach(sql`r.cells`, ['was', 'now'])}
      from ${rowsThatDiffer(pair)} group by 1) w
    where w.was is null or w.now is null or ${sql.join(differs, sql` or `)} order by w.name`.execute(db);
  const { older, newer } = pair.headers;
  return rows.map(({ was, now }) => ({
    was: was === null ? null : named(older, storedCells(was)),
    now: now === null ? null : named(newer, storedCells(now)),
  }));
}

const rowColumns = ['currency', 'line', 'reference', 'batch', 'transfer_id', 'amount', 'why'] as const;

/** A row of statement-rows.csv that one of the runs has more often; `times` below zero: the older one. */
export type RowChange = Record<(typeof rowColumns)[number], string> & {
  times: bigint;
  was_state: string | null;
  now_state: string | null;
};

/** Lines whose rows are about one transfer; the others are about the payout, whatever is known of its transfer. */
const ofTransfers = sql`('foreign', 'unexplained', 'amount_differences', 'timing', 'duplicates',
  'status_conflicts', 'collisions')`;

/** Rows of the statement that came or went between the runs, with the payout's state in each. */
export async function changedRows(db: Db, runs: RunPair): Promise<RowChange[]> {
  const pair = await sheetPair(db, runs, 'statement-rows');
  const payouts = await sheetPair(db, runs, 'payouts');
  const own = rowColumns.map((name) => sql`${cell(pair, name)} as ${sql.ref(name)}`);
  const state = cell(payouts, 'payout_state');
  const { rows } = await sql<RowChange>`
    with one as (select r.side, ${sql.join(own)} from ${rowsThatDiffer(pair)}),
    changed as materialized (select currency, line, reference, min(batch) as batch, min(transfer_id) as transfer_id,
        amount, min(why) as why, sum(case when side = 1 then 1 else -1 end) as times
      from one
      group by currency, line, reference, amount, case when line in ${ofTransfers} then transfer_id else '' end
      having sum(case when side = 1 then 1 else -1 end) <> 0),
    states as materialized (select ${cell(payouts, 'reference')} as name,
        ${inEach(state, ['was_state', 'now_state'])}
      from ${rowsOfBoth(payouts, 'all')} where ${cell(payouts, 'reference')} in (select reference from changed) group by 1)
    select c.*, s.was_state, s.now_state from changed c left join states s on s.name = c.reference
    order by c.currency, c.line, c.reference, c.batch, c.transfer_id, c.amount, c.why`.execute(db);
  return rows;
}
