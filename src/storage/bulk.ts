import { type RawBuilder, sql } from 'kysely';
import { storable } from '../domain/others-reference.ts';
import { perDialect } from './dialect.ts';

export { storable };

/** A row of many, as it travels in one JSON text. Amounts go as text: a JSON number would lose digits above 2^53. */
type BulkRow = Readonly<Record<string, string | bigint | null>>;

/**
 * Many rows as one parameter, so that a chunk of any size is one prepared statement. Bigints go in as JSON integers;
 * ids and counters stay below 2^53. The one place that knows the databases' JSON table functions: PostgreSQL takes the rows
 * of an array for few, so that it looks each up by its key; those of a JSON function it takes for many, and reads a table.
 */
export function rowsOf(rows: readonly BulkRow[]): RawBuilder<{ value: string }> {
  return rowsIn(sql`${rowsText(rows)}`);
}

/** The rows in a text of {@link rowsText}, for a statement that is put together before its rows are known. */
export function rowsIn(text: RawBuilder<unknown>): RawBuilder<{ value: string }> {
  return perDialect(
    sql`json_each(${text})`,
    sql`(select place - 1 as key, element as value, place as id
      from unnest((select array_agg(e) from jsonb_array_elements(${text}::jsonb) as x (e)))
        with ordinality as u (element, place))`,
  );
}

/** The text of {@link rowsIn}. */
export function rowsText(rows: readonly BulkRow[]): string {
  return JSON.stringify(rows.map(plain));
}

function plain(row: BulkRow): Record<string, string | number | null> {
  const told: Record<string, string | number | null> = {};
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'string') told[name] = storable(value);
    else if (value !== undefined) told[name] = typeof value === 'bigint' ? Number(value) : value;
  }
  return told;
}

/** A text field of the current row of {@link rowsOf}, as SQL. */
export function field(name: string): RawBuilder<string> {
  return sql`row.value ->> ${sql.lit(name)}`;
}

/** A field that is compared with or stored as a whole number. */
export function integerField(name: string): RawBuilder<bigint> {
  return sql`cast(row.value ->> ${sql.lit(name)} as bigint)`;
}

/** A list of ids as one parameter, for `in`: the statement is the same for any number of them. */
export function idsOf(ids: readonly bigint[]): RawBuilder<bigint> {
  return idsIn(sql`${idsText(ids)}`);
}

/** The ids in a text of {@link idsText}, for a statement that is put together before they are known. */
export function idsIn(text: RawBuilder<unknown>): RawBuilder<bigint> {
  return perDialect(
    sql`(select value from json_each(${text}))`,
    sql`(select unnest((select translate(${text}, '[]', '{}')::bigint[])))`,
  );
}

/** True for an id of a text of {@link idsText}: for a table of which one id has several rows. */
export function isOneOf(column: RawBuilder<unknown>, text: RawBuilder<unknown>): RawBuilder<boolean> {
  return perDialect(
    sql<boolean>`${column} in (select value from json_each(${text}))`,
    sql`${column} = any((select translate(${text}, '[]', '{}')::bigint[])::bigint[])`,
  );
}

/** The text of {@link idsIn}. */
export function idsText(ids: readonly bigint[]): string {
  return `[${ids.join(',')}]`;
}

/** A list of texts as one parameter, for `in`. */
export function textsOf(texts: readonly string[]): RawBuilder<string> {
  return textsIn(sql`${JSON.stringify(texts)}`);
}

/** The texts in a JSON array of them, for a statement that is put together before they are known. */
export function textsIn(text: RawBuilder<unknown>): RawBuilder<string> {
  return perDialect(
    sql`(select value from json_each(${text}))`,
    sql`(select unnest((select array_agg(e) from jsonb_array_elements_text(${text}::jsonb) as x (e))))`,
  );
}

/** The instant of an ISO UTC column so many milliseconds later, in the ledger's form. */
export function instantPlus(instant: RawBuilder<unknown>, ms: number): RawBuilder<string> {
  const seconds = `+${(ms / 1000).toFixed(3)} seconds`;
  return perDialect(
    sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, ${seconds})`,
    sql`to_char(${instant}::timestamptz at time zone 'UTC' + ${seconds}::interval, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  );
}
