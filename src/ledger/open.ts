import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import { up as initial } from './migrations/0001-initial.ts';
import { LedgerDialect, openDatabase } from './sqlite.ts';
import type { Tables } from './tables.ts';

/** A connection to the ledger outside any transaction. */
export type Db = Kysely<Tables>;
/** A committed-or-nothing unit of work; a function that needs one takes it as its first argument. */
export type Trx = Transaction<Tables>;

export type Ledger = {
  db: Db;
  path: string;
  /** The instance id: which ledger this is, wherever its file lies. */
  id: string;
  /** When the ledger was made, ISO UTC. */
  birth: string;
  /** Runs `work` in one BEGIN IMMEDIATE transaction. Never await the network inside. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

const migrations = { '0001-initial': { up: initial } };

/**
 * Opens (and creates or migrates) the ledger file, mode 0600 in a folder of mode 0700.
 * Throws what SQLite throws: an unreadable, foreign or full file is for the caller to report.
 */
export async function openLedger(
  path: string,
  options: { now: () => string; maxPageCount?: number },
): Promise<Ledger> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = openDatabase(
    path,
    options.maxPageCount === undefined ? {} : { maxPageCount: options.maxPageCount },
  );
  chmodSync(path, 0o600);
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(database) });
  const write = <T>(work: (trx: Trx) => Promise<T>): Promise<T> => db.transaction().execute(work);
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
    const { error } = await migrator.migrateToLatest();
    if (error) throw error;
    const born = await write((trx) => bornOnce(trx, options.now()));
    return { db, path, ...born, write, close: () => db.destroy() };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

async function bornOnce(trx: Trx, now: string): Promise<{ id: string; birth: string }> {
  await trx
    .insertInto('meta')
    .values([
      { key: 'ledger_id', value: randomUUID() },
      { key: 'birth', value: now },
    ])
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  const rows = await trx.selectFrom('meta').selectAll().where('key', 'in', ['ledger_id', 'birth']).execute();
  const value = (key: string): string => rows.find((row) => row.key === key)?.value ?? '';
  return { id: value('ledger_id'), birth: value('birth') };
}
