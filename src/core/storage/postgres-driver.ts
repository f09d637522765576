import {
  CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type QueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { PostgresFailure } from './failure.ts';
import { failureOf, parameterFor } from './postgres-client.ts';
import { LedgerPostgresCompiler } from './postgres-compiler.ts';

/** How many statements a connection keeps prepared; later ones are prepared each time. */
const mostPrepared = 300;

/**
 * Kysely's PostgreSQL dialect with three changes. `begin` is the statement that starts a write transaction. All
 * failures have one class. A connection whose transaction did not end cleanly is never used again.
 */
export class LedgerPostgresDialect implements Dialect {
  readonly #pool: Pool;
  readonly #begin: string;

  constructor(pool: Pool, begin = 'begin') {
    this.#pool = pool;
    this.#begin = begin;
  }

  createAdapter(): PostgresAdapter {
    return new LedgerPostgresAdapter();
  }

  createDriver(): Driver {
    return new PostgresLedgerDriver(this.#pool, this.#begin);
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db);
  }

  createQueryCompiler(): QueryCompiler {
    return new LedgerPostgresCompiler();
  }
}

/** Migrations run inside a write transaction, which is exclusive already. */
class LedgerPostgresAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class PostgresLedgerDriver implements Driver {
  readonly #pool: Pool;
  readonly #begin: string;
  readonly #names = new Map<string, string>();
  readonly #connections = new WeakMap<DatabaseConnection, { client: PoolClient; spoilt: boolean }>();

  constructor(pool: Pool, begin: string) {
    this.#pool = pool;
    this.#begin = begin;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw failureOf(error);
    });
    const connection: DatabaseConnection = {
      executeQuery: <R>(query: CompiledQuery) => this.#execute<R>(client, query),
      streamQuery: () => {
        throw new Error('the ledger reads in pages, not in streams');
      },
    };
    this.#connections.set(connection, { client, spoilt: false });
    return connection;
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await connection.executeQuery(CompiledQuery.raw(this.#begin));
    } catch (error) {
      this.#spoil(connection);
      if (failureOf(error).code !== 'POSTGRES_22012') throw error;
      throw new PostgresFailure(
        'SESSION_LOST',
        'the database session of this process ended, and others may have taken over its work: it changes nothing more',
        error,
      );
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      const { rows } = await connection.executeQuery<{ command: string }>(CompiledQuery.raw('commit'));
      // After a failed statement, PostgreSQL answers the commit with a rollback.
      if (rows[0]?.command !== 'ROLLBACK') return;
    } catch (error) {
      this.#spoil(connection);
      const { message } = failureOf(error);
      throw new PostgresFailure(
        'COMMIT_UNKNOWN',
        `it is not known whether the last change was committed: ${message}`,
        error,
      );
    }
    throw new PostgresFailure('ROLLED_BACK', 'the database rolled the change back instead of committing it');
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // The caller must see the first error. A lost connection has rolled back by itself.
    await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => this.#spoil(connection));
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const held = this.#connections.get(connection);
    held?.client.release(held.spoilt);
  }

  async destroy(): Promise<void> {
    await this.#pool.end();
  }

  #spoil(connection: DatabaseConnection): void {
    const held = this.#connections.get(connection);
    if (held) held.spoilt = true;
  }

  async #execute<R>(client: PoolClient, { sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const values = parameters.map(parameterFor);
    const name = values.length > 0 ? this.#nameOf(sql) : undefined;
    const config = name === undefined ? { text: sql, values } : { text: sql, values, name };
    const result = await client.query(config).catch((error: unknown) => {
      throw failureOf(error);
    });
    return resultOf<R>(result);
  }

  /** The same statement has the same name on every connection. */
  #nameOf(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || this.#names.size >= mostPrepared) return known;
    const name = `ledger_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}

type Answer = { command: string; rowCount: number | null; rows: unknown[] };

function resultOf<R>(answer: Answer | Answer[]): QueryResult<R> {
  // A text with several statements: use the last answer.
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  if (!last) return { rows: [] };
  const { command, rowCount } = last;
  const rows = command === 'COMMIT' || command === 'ROLLBACK' ? [{ command }] : last.rows;
  const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
  return { rows: rows as R[], ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }) };
}
