import { ExpressionWrapper, type OperationNode, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from './ledger.ts';

/** The PostgreSQL form of a query part; the compiler of that dialect looks it up. */
const onPostgres = new WeakMap<OperationNode, OperationNode>();

/** SQL that the two databases spell differently, with the same meaning. Readers see SQLite's spelling. */
export function perDialect<T>(sqlite: RawBuilder<T>, postgres: RawBuilder<unknown>): RawBuilder<T> {
  const node = sqlite.toOperationNode();
  onPostgres.set(node, postgres.toOperationNode());
  return sql`${new ExpressionWrapper(node)}`;
}

/** The PostgreSQL form of a part, if it has one. */
export function postgresForm(node: OperationNode): OperationNode | undefined {
  return onPostgres.get(node);
}

export function isPostgres(db: Db | Trx): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The text of a field (or, by number, an element) of a JSON column. */
export function jsonText(column: RawBuilder<unknown>, key: string | number): RawBuilder<string | null> {
  return perDialect(sql`${column} ->> ${sql.lit(key)}`, sql`(${column})::jsonb ->> ${sql.lit(key)}`);
}

/** All rows of a group as one JSON text: an array of arrays with these columns, in the order of the group. */
export function jsonRows(...columns: string[]): RawBuilder<string> {
  const row = sql.join(columns.map((column) => sql.ref(column)));
  return perDialect(
    sql`json_group_array(json_array(${row}))`,
    sql`coalesce(json_agg(json_build_array(${row})), '[]')::text`,
  );
}

/** The smaller of two values, neither of which is null. */
export function lesser<T>(one: RawBuilder<T>, other: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`case when ${one} < ${other} then ${one} else ${other} end`;
}

/** Texts as literals of a list: SQLite uses a partial index for no bound value. */
export function literals(texts: readonly string[]): RawBuilder<unknown> {
  return sql.join(texts.map((text) => sql.lit(text)));
}
