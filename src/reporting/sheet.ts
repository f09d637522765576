/** The columns of a sheet in their order: each name with what its cell shows of a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

/** A sheet as it is written: header and cells come from the same columns. */
export type SheetOf<Row> = {
  header: string[];
  cells(row: Row): string[];
  /** The header, then the cells of each row. */
  all(rows: readonly Row[]): string[][];
};

export function sheetOf<Row>(columns: Columns<Row>): SheetOf<Row> {
  const header = Object.keys(columns);
  const values = Object.values(columns);
  const cells = (row: Row): string[] => values.map((value) => value(row));
  return { header, cells, all: (rows) => [header, ...rows.map(cells)] };
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

/** The order of texts by their code units, the same in every place. */
export function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
