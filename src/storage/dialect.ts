import { ExpressionWrapper, type OperationNode, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from './ledger.ts';

/** What PostgreSQL is told in place of a part of a query; the compiler of its dialect looks here. */
const onPostgres = new WeakMap<OperationNode, OperationNode>();

/**
 * SQL that the two databases spell differently. SQLite's spelling is the one that everybody reads; the other one is used
 * where the query runs on PostgreSQL, and both mean the same.
 */
export function perDialect<T>(sqlite: RawBuilder<T>, postgres: RawBuilder<unknown>): RawBuilder<T> {
  const node = sqlite.toOperationNode();
  onPostgres.set(node, postgres.toOperationNode());
  return sql`${new ExpressionWrapper(node)}`;
}

/** The spelling for PostgreSQL, where a part has one of its own. */
export function postgresForm(node: OperationNode): OperationNode | undefined {
  return onPostgres.get(node);
}

/** Whether the ledger lies on PostgreSQL. */
export function isPostgres(db: Db | Trx): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** The text of a field (or, by number, an element) of a column of JSON text. */
export function jsonText(column: RawBuilder<unknown>, key: string | number): RawBuilder<string | null> {
  return perDialect(sql`${column} ->> ${sql.lit(key)}`, sql`(${column})::jsonb ->> ${sql.lit(key)}`);
}

/** All rows of a group as one JSON text: an array of arrays of these columns, in the group's order. */
export function jsonRows(...columns: string[]): RawBuilder<string> {
  const row = sql.join(columns.map((column) => sql.ref(column)));
  return perDialect(
    sql`json_group_array(json_array(${row}))`,
    sql`coalesce(json_agg(json_build_array(${row})), '[]')::text`,
  );
}

/** The smaller of two values of which neither is null. */
export function lesser<T>(one: RawBuilder<T>, other: RawBuilder<T>): RawBuilder<T> {
  return sql<T>`case when ${one} < ${other} then ${one} else ${other} end`;
}
