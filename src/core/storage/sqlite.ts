import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
} from 'kysely';
import { forbiddenPlace } from '../domain/forbidden.ts';

/** How long a transaction waits for another process's commit before it fails, in milliseconds. */
const busyLimitMs = 60_000;

/** How long statements may run in a row before the event loop gets a turn, in milliseconds. */
const turnMs = 10;

/** True for the two codes that mean "another process is writing; try again". */
export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code);
}

/** Adds the file or folder to an error that does not name it. Names a forbidden file and a full disk as such. */
export function withPlace(error: unknown, path: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const { code, message } = error;
  const forbidden = /^SQLITE_(IOERR|READONLY|CANTOPEN|PERM)/.test(code) ? findForbidden(path) : null;
  if (forbidden) {
    const named = new Database.SqliteError(`${message}: ${forbidden.message}`, code);
    named.cause = forbidden;
    return named;
  }
  if (/^SQLITE_(IOERR|CANTOPEN)/.test(code) && isDiskFull(dirname(path)))
    return new Database.SqliteError(`the disk of ${dirname(path)} is full (${message})`, 'SQLITE_FULL');
  if (code === 'SQLITE_READONLY_DIRECTORY')
    return new Database.SqliteError(`this account may not write in the folder ${dirname(path)}`, code);
  return /^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code)
    ? new Database.SqliteError(`${message}: ${path}`, code)
    : error;
}

/** The error of the first file of the ledger, or of its folder, that this account may not read and write; null if none. */
function findForbidden(path: string): Error | null {
  for (const file of [path, `${path}-wal`, `${path}-shm`, dirname(path)])
    try {
      accessSync(file, constants.R_OK | constants.W_OK);
    } catch (error) {
      if (error instanceof Error && forbiddenPlace(error)) return error;
    }
  return null;
}

/** SQLite's smallest growth step is 32 KiB, of the index of the write-ahead log. */
const leastFreeBytes = 64 * 1024;

function isDiskFull(folder: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(folder);
    return bavail * bsize < leastFreeBytes || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}

/**
 * Kysely's SQLite dialect with five changes:
 *
 * - write transactions are BEGIN IMMEDIATE, because a deferred upgrade could throw BUSY half-way;
 * - waiting for another process never blocks the event loop;
 * - prepared statements are kept;
 * - migrations are atomic;
 * - the error of a rollback never replaces the error that ended the transaction.
 */
export class LedgerDialect extends SqliteDialect {
  readonly #database: Database.Database;
  readonly #cached: ReturnType<typeof withStatementCache>;
  readonly #breathes: boolean;

  /** `breathes`: the event loop gets a turn between statements, however many follow each other. */
  constructor(database: Database.Database, { breathes = false } = {}) {
    const cached = withStatementCache(database);
    super({ database: cached });
    this.#database = database;
    this.#cached = cached;
    this.#breathes = breathes;
  }

  override createAdapter(): SqliteAdapter {
    return new LedgerAdapter();
  }

  override createDriver(): Driver {
    const breathe = this.#breathes ? createBreath() : async () => undefined;
    return new ImmediateDriver(this.#database, this.#cached, breathe);
  }
}

/** Creates tables in a transaction: a crash or a second process during a migration leaves none half done. */
class LedgerAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  readonly #database: Database.Database;
  readonly #breathe: () => Promise<void>;

  constructor(
    database: Database.Database,
    cached: ReturnType<typeof withStatementCache>,
    breathe: () => Promise<void>,
  ) {
    super({ database: cached });
    this.#database = database;
    this.#breathe = breathe;
  }

  // Every statement waits, not only BEGIN: opening and recovery of the file can also meet another process. A statement
  // that met a busy file did nothing, so it is safe to repeat.
  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    return {
      executeQuery: async <R>(query: CompiledQuery) => {
        const result = await whenFree(() => connection.executeQuery<R>(query)).catch((error: unknown) => {
          throw withPlace(error, this.#database.name);
        });
        await this.#breathe();
        return result;
      },
      streamQuery: <R>(query: CompiledQuery, chunkSize: number) =>
        connection.streamQuery<R>(query, chunkSize),
    };
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite itself ends the transaction after some failures. A transaction that cannot be rolled back is never
    // committed, and the next one fails.
    if (!this.#database.inTransaction) return;
    await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => undefined);
  }
}

/** SQLite answers synchronously: without a pause, a whole transaction would be one turn of the event loop. */
function createBreath(): () => Promise<void> {
  let turned = performance.now();
  return async () => {
    if (performance.now() - turned < turnMs) return;
    await setImmediate();
    turned = performance.now();
  };
}

async function whenFree<T>(action: () => Promise<T>): Promise<T> {
  const until = performance.now() + busyLimitMs;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

type Prepared = Pick<Database.Statement, 'reader' | 'all' | 'run' | 'iterate'>;

function withStatementCache(database: Database.Database): { close(): void; prepare(sql: string): Prepared } {
  const kept = new Map<string, Database.Statement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const known = kept.get(sql);
      if (known && !known.busy) return known;
      const statement = database.prepare(sql);
      if (kept.size >= 500) kept.clear();
      kept.set(sql, statement);
      return statement;
    },
  };
}

/**
 * Opens the file with the settings that every connection must have; throws when one does not hold. With `reads` it
 * creates no file and changes nothing. The file is still opened for writing: a reader of a write-ahead log must write
 * its index.
 */
export function openDatabase(
  path: string,
  options: { maxPageCount?: number; reads?: boolean } = {},
): Database.Database {
  try {
    return openWith(path, options);
  } catch (error) {
    throw withPlace(error, path);
  }
}

/** Opens the file for one piece of work, and closes it whatever happens. */
export function withDatabase<T>(path: string, work: (database: Database.Database) => T): T {
  const database = openDatabase(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function openWith(
  path: string,
  { reads = false, ...options }: Parameters<typeof openDatabase>[1] & object,
): Database.Database {
  const database = new Database(path, { timeout: 0, fileMustExist: reads });
  try {
    set(database, reads, options);
    return database;
  } catch (error) {
    // Otherwise a file that is no database stays open until the garbage collector comes.
    database.close();
    throw error;
  }
}

function set(database: Database.Database, reads: boolean, options: { maxPageCount?: number }): void {
  database.defaultSafeIntegers(true);
  if (reads) {
    database.pragma('query_only = ON');
    database.pragma('cache_size = -4000');
    return;
  }
  retryBusy(() => database.pragma('journal_mode = WAL'));
  database.pragma('synchronous = FULL');
  // A larger log merges repeated writes of a page before they reach the file: with random keys, most of the work.
  database.pragma('wal_autocheckpoint = 4000');
  // The system caches the file's pages too; SQLite's default of sixteen megabytes was no faster.
  database.pragma('cache_size = -4000');
  database.pragma('foreign_keys = ON');
  database.pragma('trusted_schema = OFF');
  if (options.maxPageCount !== undefined) database.pragma(`max_page_count = ${options.maxPageCount}`);
  if (database.pragma('synchronous', { simple: true }) !== 2n)
    throw new Error('SQLite did not accept synchronous = FULL');
  if (database.pragma('journal_mode', { simple: true }) !== 'wal')
    throw new Error('SQLite did not accept journal_mode = WAL');
}

/** Two processes that open a new ledger together briefly compete for the switch to WAL. */
function retryBusy(action: () => void): void {
  for (let tries = 0; ; tries++) {
    try {
      action();
      return;
    } catch (error) {
      if (!isBusy(error) || tries > 500) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
