import { type RawBuilder, sql } from 'kysely';
import { overRows } from '../core/storage/bound-rows.ts';
import { textsOf } from '../core/storage/bulk.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';

/** The sheets of a run, each a CSV file of that name. */
export const runSheets = [
  'statement',
  'statement-rows',
  'payouts',
  'discrepancies',
  'ageing',
  'collections',
] as const;

/** A keyset page of rows that become files: small, so that their text leaves memory soon. */
const filePage = 200;
/** How many rows one short transaction deletes or compares. */
const rowsAtOnce = 5000;

/** This sheet is stored last, in the transaction that makes the run frozen. */
const lastSheet = 'statement';

/** A row of a sheet with its position. Rows are read in position order, and gaps are allowed. The header is at 0. */
export type PlacedRow = { position: bigint; cells: string[] };

/** Rows that follow each other, the first of them at `position`. */
export function placedFrom(position: number, rows: string[][]): PlacedRow[] {
  return rows.map((cells, index) => ({ position: BigInt(position + index), cells }));
}

/**
 * Whether row `r` of `run_rows` belongs to the run that was frozen as `frozen`. A row belongs to every run from `since`
 * until, and without, `until`: what does not differ from the run before is stored once.
 */
export function isRowOf(frozen: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(r.since <= ${frozen} and (r.until is null or r.until > ${frozen}))`;
}

/** The number under which the run was frozen; null for one that was not. */
const frozenAs = (run: string): RawBuilder<bigint | null> => sql`(select frozen from runs where id = ${run})`;

/** The number of the newest frozen run; 0 when there is none. */
async function newestFrozen(db: Db | Trx): Promise<bigint> {
  const row = await db
    .selectFrom('runs')
    .select((on) => on.fn.max<bigint | null>('frozen').as('newest'))
    .executeTakeFirst();
  return row?.newest ?? 0n;
}

/** Returns the number of the next frozen run, after deleting what an interrupted freeze stored under it. */
export async function beginFreeze(ledger: Ledger): Promise<bigint> {
  const newest = await newestFrozen(ledger.db);
  while (await ledger.write((trx) => dropSome(trx, sql`since > ${newest}`)));
  return newest + 1n;
}

/** Deletes rows that no run has ended. Returns whether there may be more of them. */
async function dropSome(trx: Trx, which: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`delete from run_rows where (sheet, position, since) in (
    select sheet, position, since from run_rows where until is null and ${which} limit ${rowsAtOnce})
    returning 1 as one`.execute(trx);
  return rows.length === rowsAtOnce;
}

/**
 * The sheet of marks: a mark without cells stands for a row that equals the one of the run frozen before, until the rows
 * are shared. Marks lie apart from the rows, so that the pages of those need not be written.
 */
const marksOf = (sheet: RawBuilder<unknown>): RawBuilder<string> => sql`'=' || ${sheet}`;
const isMark = sql`sheet > '=' and sheet < '>'`;

/** The older row is looked up for each row: joined, a database without statistics compares each row with every other. */
const insertRows = overRows(['position', 'cells'], 2, ({ rows, text, integer, shared }) => {
  const [sheet, since] = [sql`cast(${shared(0)} as text)`, sql`cast(${shared(1)} as bigint)`];
  return sql`insert into run_rows (sheet, position, since, cells)
    select case when equal = 0 then ${sheet} else ${marksOf(sheet)} end, position, ${since},
      case when equal = 0 then cells else '' end
    from (select ${integer('position')} as position, ${text('cells')} as cells,
        (select count(*) from run_rows o where o.sheet = ${sheet} and o.position = ${integer('position')}
          and o.until is null and o.since < ${since} and o.cells = ${text('cells')}) as equal
      from ${rows} where ${text('cells')} is not null) given`;
});

/** Adds rows to a sheet of the run that is being frozen under the number `since`. */
export async function addSheetRows(trx: Trx, since: bigint, sheet: string, rows: PlacedRow[]): Promise<void> {
  const texts = rows.map(({ position, cells }) => ({ position, cells: JSON.stringify(cells) }));
  await insertRows(trx, [sheet, since], texts);
}

/**
 * Ends the rows of the run frozen before that changed or went, in short transactions, in every sheet but the last one.
 * Equal rows stay. Reports of older runs read the same before, between and after.
 */
export async function shareRows(ledger: Ledger, since: bigint): Promise<void> {
  for (let after: Place | null = firstPlace; after !== null; ) {
    const from: Place = after;
    after = await ledger.write((trx) =>
      endSome(trx, { among: sql`r.sheet <> ${lastSheet}`, since, after: from }),
    );
  }
  while (await ledger.write((trx) => dropSome(trx, isMark)));
}

/** A row's place among all sheets. */
type Place = { sheet: string; position: bigint };
const firstPlace: Place = { sheet: '', position: -1n };

/** Adds the sheet that comes last, and marks the run as frozen under the number `since`. */
export async function endFreeze(
  trx: Trx,
  run: string,
  { since, rows }: { since: bigint; rows: string[][] },
): Promise<void> {
  if ((await newestFrozen(trx)) >= since) throw new Error(`run ${run}: another run was frozen meanwhile`);
  await addSheetRows(trx, since, lastSheet, placedFrom(0, rows));
  for (let after: Place | null = firstPlace; after !== null; )
    after = await endSome(trx, { among: sql`r.sheet = ${lastSheet}`, since, after });
  while (await dropSome(trx, isMark));
  await trx.updateTable('runs').set({ frozen: since }).where('id', '=', run).execute();
}

/** Ends a piece of the rows `r` that have no mark. Returns the place where the next piece begins; null after the last. */
async function endSome(
  trx: Trx,
  { among, since, after }: { among: RawBuilder<unknown>; since: bigint; after: Place },
): Promise<Place | null> {
  const rest = sql`${among} and (r.sheet, r.position) > (${after.sheet}, ${after.position}) and r.until is null
    and r.since < ${since}`;
  const last = await sql<Place>`select r.sheet, r.position from run_rows r where ${rest}
    order by r.sheet, r.position limit 1 offset ${rowsAtOnce - 1}`.execute(trx);
  const through = last.rows[0] ?? null;
  const upTo =
    through === null ? sql`` : sql`and (r.sheet, r.position) <= (${through.sheet}, ${through.position})`;
  await sql`update run_rows as r set until = ${since} where ${rest} ${upTo} and not exists (
    select 1 from run_rows n where n.sheet = ${marksOf(sql`r.sheet`)} and n.position = r.position
      and n.since = ${since})`.execute(trx);
  return through;
}

/** The number of the run among the frozen ones; 0 for a run that is not frozen, and so has no reports. */
export async function frozenNumber(db: Db, run: string): Promise<bigint> {
  const row = await db.selectFrom('runs').select('frozen').where('id', '=', run).executeTakeFirst();
  return row?.frozen ?? 0n;
}

export async function isFrozen(db: Db, run: string): Promise<boolean> {
  return (await frozenNumber(db, run)) > 0n;
}

/** True when the run's frozen sheet has more rows than `beyond`, including its header. */
export async function hasRunRows(db: Db, run: string, sheet: string, beyond = 0): Promise<boolean> {
  const { rows } = await sql`select 1 from run_rows r where r.sheet = ${sheet} and ${isRowOf(frozenAs(run))}
    order by r.position limit 1 offset ${beyond}`.execute(db);
  return rows.length > 0;
}

/** The frozen rows of a sheet in order, each a JSON array of texts, a page at a time. */
export async function* runRows(db: Db, run: string, sheet: string): AsyncGenerator<string[]> {
  const pages = keyset<{ position: bigint; cells: string }>(filePage, async (last) => {
    const { rows } = await sql<{ position: bigint; cells: string }>`
      select r.position, r.cells from run_rows r
      where r.sheet = ${sheet} and r.position > ${last?.position ?? -1n} and ${isRowOf(frozenAs(run))}
      order by r.position limit ${filePage}`.execute(db);
    return rows;
  });
  for await (const page of pages) yield page.map(({ cells }) => cells);
}

/** The frozen rows of this sheet of these runs, each row a JSON array of texts, in order; none of archived runs. */
export async function sheetOfRuns(
  db: Db,
  runs: readonly string[],
  sheet: string,
): Promise<{ run_id: string; cells: string }[]> {
  if (runs.length === 0) return [];
  const { rows } = await sql<{ run_id: string; cells: string }>`
    select runs.id as run_id, r.cells from runs join run_rows r on ${isRowOf(sql`runs.frozen`)}
    where runs.id in ${textsOf(runs)} and runs.archive_id is null and r.sheet = ${sheet}
    order by runs.id, r.position`.execute(db);
  return rows;
}
