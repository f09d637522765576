import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, SqliteDialect } from 'kysely';
import { migrations } from '../../src/core/storage/known-migrations.ts';
import { LedgerPostgresCompiler } from '../../src/core/storage/postgres-compiler.ts';
import { prelude } from '../../src/core/storage/postgres-schema.ts';

/** A digest of the statements that a migration runs on each database. */
export type MigrationDigest = { sqlite: string; postgres: string };

/** The digests of every migration of this version, by name. */
export async function migrationDigests(): Promise<Record<string, MigrationDigest>> {
  const database = new Database(':memory:');
  const said: string[] = [];
  const log = ({ query }: { query: { sql: string } }): void => void said.push(query.sql);
  const sqlite = new Kysely<unknown>({ dialect: new SqliteDialect({ database }), log });
  const postgres = new Kysely<unknown>({ dialect: compilesOnly, log });
  const digests: Record<string, MigrationDigest> = {};
  said.push(prelude);
  // PostgreSQL first: the prelude belongs to its first migration.
  for (const [name, load] of Object.entries(migrations)) {
    const { up } = await load();
    await up(postgres);
    const ofPostgres = digestOf(said.splice(0));
    await up(sqlite);
    digests[name] = { sqlite: digestOf(said.splice(0)), postgres: ofPostgres };
  }
  database.close();
  return digests;
}

/** Compiles for PostgreSQL and runs nothing. A migration that reads there what it writes sees no rows. */
const compilesOnly = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
  createQueryCompiler: () => new LedgerPostgresCompiler(),
};

/** The layout of a statement may change; its words may not. */
function digestOf(statements: readonly string[]): string {
  const text = statements.map((statement) => statement.replaceAll(/\s+/g, ' ').trim()).join('\n');
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
