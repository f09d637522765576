import { type RawBuilder, sql } from 'kysely';

/**
 * Many rows as one parameter, so that a chunk of any size is one prepared statement. Bigints go in as JSON integers;
 * ids and counters stay below 2^53. The one place that knows SQLite's JSON table function.
 */
export function rowsOf(
  rows: readonly Record<string, string | bigint | null>[],
): RawBuilder<{ value: string }> {
  const text = JSON.stringify(rows, (_key, value) => (typeof value === 'bigint' ? Number(value) : value));
  return sql`json_each(${text})`;
}

/** A field of the current row of {@link rowsOf}, as SQL. */
export function field(name: string): RawBuilder<string> {
  return sql`row.value ->> ${sql.lit(name)}`;
}

/** The instant of an ISO UTC column so many milliseconds later, in the ledger's form; SQLite's own date function. */
export function instantPlus(instant: RawBuilder<unknown>, ms: number): RawBuilder<string> {
  return sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${instant}, ${`+${(ms / 1000).toFixed(3)} seconds`})`;
}
