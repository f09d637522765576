import { Big } from 'big.js';

/** The cells of a row that the ledger keeps as JSON; throws where they are no texts. */
export function storedCells(json: string): string[] {
  const cells: unknown = JSON.parse(json);
  if (Array.isArray(cells) && cells.every((cell) => typeof cell === 'string')) return cells;
  throw new TypeError('the stored cells of a row are no list of texts');
}

/** The columns of a sheet in their order: each name with what its cell shows of a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** A sheet as it is written: header and cells come from the same columns. `all`: the header, then each row's cells. */
export function sheetOf<Row>(columns: Columns<Row>) {
  const header = Object.keys(columns);
  const values = Object.values(columns);
  const cells = (row: Row): string[] => values.map((value) => value(row));
  return { header, cells, all: (rows: readonly Row[]): string[][] => [header, ...rows.map(cells)] };
}

/** Columns whose cells are the row's own texts of these names; empty for null. */
export function asIs<Name extends string>(...names: Name[]): Columns<Record<Name, string | null>> {
  return Object.fromEntries(
    names.map((name) => [name, (row: Record<Name, string | null>) => row[name] ?? '']),
  );
}

/** A row of a sheet as it is read: its cells by the names of their columns. */
export type NamedCells = Record<string, string>;

/** The cells of a row under this header; empty where the row is shorter. */
export function named(header: readonly string[], cells: readonly string[]): NamedCells {
  return Object.fromEntries(header.map((name, index) => [name, cells[index] ?? '']));
}

/** The rows of a sheet below its header; an absent sheet has none. */
export function records(sheet: string[][] | undefined): NamedCells[] {
  const [header = [], ...rows] = sheet ?? [];
  return rows.map((cells) => named(header, cells));
}

/** The whole numbers of a column, added up. */
export function totalOf(rows: readonly NamedCells[], column = 'count'): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row[column] || '0'), 0n);
}

/** The plain decimals of a column, added up exactly, with as many digits as the longest. */
export function decimalsOf(rows: readonly NamedCells[], column = 'amount'): string {
  const digits = Math.max(0, ...rows.map((row) => row[column]?.split('.')[1]?.length ?? 0));
  return rows.reduce((sum, row) => sum.plus(row[column] || '0'), Big(0)).toFixed(digits);
}

/** The order of texts by their code units, the same in every place. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
