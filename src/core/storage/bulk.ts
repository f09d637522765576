import { type RawBuilder, sql } from 'kysely';
import { storable } from '../domain/others-reference.ts';
import { perDialect } from './dialect.ts';

export { storable };

/** One row of a JSON text. Amounts go as text: a JSON number would lose digits above 2^53. */
type BulkRow = Readonly<Record<string, string | bigint | null>>;

/**
 * Passes many rows as one parameter, so that a chunk of any size is one prepared statement. Bigints become JSON
 * integers; ids and counters stay below 2^53. Only this file knows the databases' JSON table functions.
 *
 * PostgreSQL estimates few rows for an array and looks each up by its key. For a JSON function it estimates many, and
 * reads a whole table.
 */
export function rowsOf(rows: readonly BulkRow[]): RawBuilder<{ value: string }> {
  return rowsIn(sql`${bulkText(rows)}`);
}

/** The rows in a text of {@link bulkText}, for a statement that is prepared before its rows are known. */
export function rowsIn(text: RawBuilder<unknown>): RawBuilder<{ value: string }> {
  return perDialect(
    sql`json_each(${text})`,
    sql`(select place - 1 as key, element as value, place as id
      from unnest((select array_agg(e) from jsonb_array_elements(${text}::jsonb) as x (e)))
        with ordinality as u (element, place))`,
  );
}

/** Writes the text for {@link rowsIn}. */
export function bulkText(rows: readonly BulkRow[]): string {
  return JSON.stringify(rows.map(plain));
}

function plain(row: BulkRow): Record<string, string | number | null> {
  const fields: Record<string, string | number | null> = {};
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'string') fields[name] = storable(value);
    else if (value !== undefined) fields[name] = typeof value === 'bigint' ? Number(value) : value;
  }
  return fields;
}

/** A text field of the current row of {@link rowsOf}, as SQL. */
export function field(name: string): RawBuilder<string> {
  return sql`row.value ->> ${sql.lit(name)}`;
}

/** A field that is compared with, or stored as, a whole number. */
export function integerField(name: string): RawBuilder<bigint> {
  return sql`cast(row.value ->> ${sql.lit(name)} as bigint)`;
}

/** A list of ids as one parameter, for `in`. The statement is the same for any number of ids. */
export function idList(ids: readonly bigint[]): RawBuilder<bigint> {
  return idsIn(sql`${idsText(ids)}`);
}

/** The ids in a text of {@link idsText}, for a statement that is prepared before they are known. */
export function idsIn(text: RawBuilder<unknown>): RawBuilder<bigint> {
  return perDialect(
    sql`(select value from json_each(${text}))`,
    sql`(select unnest((select translate(${text}, '[]', '{}')::bigint[])))`,
  );
}

/** True for an id in a text of {@link idsText}. For tables that hold several rows of one id. */
export function isOneOf(column: RawBuilder<unknown>, text: RawBuilder<unknown>): RawBuilder<boolean> {
  return perDialect(
    sql<boolean>`${column} in (select value from json_each(${text}))`,
    sql`${column} = any((select translate(${text}, '[]', '{}')::bigint[])::bigint[])`,
  );
}

/** Writes the text for {@link idsIn}. */
export function idsText(ids: readonly bigint[]): string {
  return `[${ids.join(',')}]`;
}

/** A list of texts as one parameter, for `in`. */
export function textsOf(texts: readonly string[]): RawBuilder<string> {
  return textsIn(sql`${JSON.stringify(texts)}`);
}

/** The texts in a JSON array, for a statement that is prepared before they are known. */
export function textsIn(text: RawBuilder<unknown>): RawBuilder<string> {
  return perDialect(
    sql`(select value from json_each(${text}))`,
    sql`(select unnest((select array_agg(e) from jsonb_array_elements_text(${text}::jsonb) as x (e))))`,
  );
}

/** Adds `ms` milliseconds to an ISO UTC column, in the ledger's form. */
export function instantPlus(instant: RawBuilder<unknown>, ms: number): RawBuilder<string> {
  const seconds = `+${(ms / 1000).toFixed(3)} seconds`;
  return perDialect(
    sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, ${seconds})`,
    sql`to_char(${instant}::timestamptz at time zone 'UTC' + ${seconds}::interval, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  );
}
