import { type CompiledQuery, type RawBuilder, sql } from 'kysely';
import { storable } from './bulk.ts';
import type { Db, Trx } from './ledger.ts';
import { prepared } from './prepared.ts';

/** A value of a row. */
export type Cell = string | bigint | null;

/** Rows with a place for each value, as a statement names them. */
type Given<C extends string> = {
  /** The rows, for `from`; those left over are null in every column. */
  rows: RawBuilder<unknown>;
  text(column: C): RawBuilder<string>;
  /** A column that is compared with or stored as a whole number. */
  integer(column: C): RawBuilder<bigint>;
  /** A value that is the same for all rows, by its place among those. */
  shared<T>(at: number): RawBuilder<T>;
};

/** How many rows a statement has places for. The least that holds them is taken: each size is prepared but once. */
const sizes = [1, 8, 16, 32, 64, 128, 256];
const mostRows = 256;

/**
 * A statement over many rows, each value bound to a place of its own: half the work of a JSON text that the database
 * takes apart again. `shared`: how many values are the same for all rows. Resolves with what the statement returns.
 */
export function overRows<C extends string, R = never>(
  columns: readonly C[],
  shared: number,
  build: (given: Given<C>) => RawBuilder<R>,
): (trx: Trx, values: readonly Cell[], rows: readonly Readonly<Record<C, Cell>>[]) => Promise<R[]> {
  const statements = new Map(sizes.map((size) => [size, prepareFor(columns, { shared, size }, build)]));
  return async (trx, values, rows) => {
    const returned: R[] = [];
    for (let from = 0; from < rows.length; from += mostRows) {
      const some = rows.slice(from, from + mostRows);
      const size = sizes.find((one) => one >= some.length) ?? mostRows;
      const parameters = [...values];
      for (const row of some) for (const column of columns) parameters.push(bindable(row[column]));
      while (parameters.length < shared + size * columns.length) parameters.push(null);
      returned.push(...((await statements.get(size)?.(trx, parameters)) ?? []));
    }
    return returned;
  };
}

function prepareFor<C extends string, R>(
  columns: readonly C[],
  { shared, size }: { shared: number; size: number },
  build: (given: Given<C>) => RawBuilder<R>,
): (db: Db | Trx, values: readonly Cell[]) => Promise<R[]> {
  return prepared((db, slot) => {
    const row = (at: number): RawBuilder<unknown> =>
      sql`(${sql.join(columns.map((_, i) => slot(shared + at * columns.length + i)))})`;
    const column = (name: C): RawBuilder<unknown> => sql.ref(`row.column${columns.indexOf(name) + 1}`);
    const query = build({
      rows: sql`(values ${sql.join(Array.from({ length: size }, (_, at) => row(at)))}) as row`,
      text: (name) => sql`${column(name)}`,
      integer: (name) => sql`cast(${column(name)} as bigint)`,
      shared: slot,
    });
    return { compile: (): CompiledQuery<R> => query.compile(db) };
  });
}

function bindable(value: Cell): Cell {
  return typeof value === 'string' ? storable(value) : value;
}
