import { sql } from 'kysely';
import { isPostgres } from './dialect.ts';
import type { Db } from './ledger.ts';

/**
 * Has PostgreSQL sample a table that many rows were just added to. By itself it does so within a minute or two. Until
 * then it takes a new run for empty, and a query may compare each row of it with every other. Another session's sampling
 * is not waited for. SQLite needs nothing: its queries name their indexes.
 */
export async function renewStatistics(db: Db, table: 'listed'): Promise<void> {
  if (isPostgres(db)) await sql`analyze (skip_locked) ${sql.table(table)}`.execute(db);
}
