import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, type Transaction } from 'kysely';
import { Migrator } from 'kysely/migration';
import { enterGate } from './gate.ts';
import { createMarker, noticeFall } from './marking.ts';
import { up as initial } from './migrations/0001-initial.ts';
import { up as decisions } from './migrations/0002-decisions.ts';
import { up as absence } from './migrations/0003-absence.ts';
import { up as collections } from './migrations/0004-collections.ts';
import { up as discrepancies } from './migrations/0005-discrepancies.ts';
import { up as periods } from './migrations/0006-periods.ts';
import { up as listing } from './migrations/0007-listing.ts';
import { up as brakes } from './migrations/0008-brakes.ts';
import { findSeal } from './seal.ts';
import { LedgerDialect, openDatabase } from './sqlite.ts';
import { assertNotHalfSwapped } from './swap.ts';
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

const migrations = {
  '0001-initial': { up: initial },
  '0002-decisions': { up: decisions },
  '0003-absence': { up: absence },
  '0004-collections': { up: collections },
  '0005-discrepancies': { up: discrepancies },
  '0006-periods': { up: periods },
  '0008-brakes': { up: brakes },
  '0007-listing': { up: listing },
};

/** The names of every migration this version knows, in their order. */
export const knownMigrations: readonly string[] = Object.keys(migrations);

export type OpenOptions = {
  now: () => string;
  maxPageCount?: number;
  /**
   * The caller has shut the gate: as `owner` it may write what is sealed; a `copy` has no mark beside it yet, so that a
   * missing one says nothing.
   */
  alone?: 'owner' | 'copy';
};

/**
 * Opens (and creates or migrates) the ledger file, mode 0600 in a folder of mode 0700. A sealed one can only be read.
 * Throws LedgerLocked while it is being restored or moved, and what SQLite throws: an unreadable, foreign or full file
 * is for the caller to report.
 */
export async function openLedger(path: string, options: OpenOptions): Promise<Ledger> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const gate = options.alone ? null : await enterGate(path);
  try {
    if (!options.alone) assertNotHalfSwapped(path);
    return await openFile(path, options, () => gate?.release());
  } catch (error) {
    gate?.release();
    throw error;
  }
}

async function openFile(path: string, options: OpenOptions, leave: () => void): Promise<Ledger> {
  const limit = options.maxPageCount === undefined ? {} : { maxPageCount: options.maxPageCount };
  const database = openDatabase(path, limit);
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(database) });
  const write = <T>(work: (trx: Trx) => Promise<T>): Promise<T> => db.transaction().execute(work);
  try {
    chmodSync(path, 0o600);
    await write(migrate);
    const born = await write((trx) => bornOnce(trx, options.now()));
    const sealed = await findSeal(db, path);
    const close = async (): Promise<void> => {
      await db.destroy();
      leave();
    };
    if (sealed && !options.alone) {
      database.pragma('query_only = ON');
      return { db, path, ...born, write: () => Promise.reject(new LedgerSealed(sealed.cause)), close };
    }
    // A sealed one sends nothing anyway, and its mark is that of no ledger.
    const fallenBack =
      options.alone !== 'copy' &&
      !sealed &&
      (await write((trx) => noticeFall(trx, path, born.id, options.now())));
    // What fell back is not marked: the old mark is the only one who knows.
    if (fallenBack || options.alone) return { db, path, ...born, write, close };
    const marker = createMarker({ write, path, id: born.id, now: options.now });
    return { db, path, ...born, write: marker.write, close: () => marker.flush().then(close) };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** All or nothing, and one process at a time: two may open a new ledger at once. */
async function migrate(trx: Trx): Promise<void> {
  const migrator = new Migrator({ db: trx, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** The ledger was moved for ever (P26); the message says where to. */
export class LedgerSealed extends Error {
  readonly code = 'LEDGER_SEALED';
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
