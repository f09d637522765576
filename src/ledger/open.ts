import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql, type Transaction } from 'kysely';
import { enterGate } from './custody/gate.ts';
import { createMarker, noticeFall } from './custody/marking.ts';
import { findSeal } from './custody/seal.ts';
import { assertNotHalfSwapped } from './custody/swap.ts';
import { nameOf, type Place, placeOf } from './database/place.ts';
import type { Session } from './database/postgres-session.ts';
import { LedgerDialect, openDatabase, withPlace } from './database/sqlite.ts';
import type { Tables } from './tables/tables.ts';

/** A connection to the ledger outside any transaction. */
export type Db = Kysely<Tables>;
/** A committed-or-nothing unit of work; a function that needs one takes it as its first argument. */
export type Trx = Transaction<Tables>;

export type Ledger = {
  db: Db;
  /** Its SQLite file; on PostgreSQL the name beside which this machine keeps what belongs to it. */
  path: string;
  place: Place;
  /** Locks that every process of a ledger on PostgreSQL sees, on whatever machine; null: files are its locks. */
  session: Pick<Session, 'hold' | 'isFree' | 'holders' | 'lost'> | null;
  /** The instance id: which ledger this is, wherever its file lies. */
  id: string;
  /** When the ledger was made, ISO UTC. */
  birth: string;
  /** Runs `work` in one transaction that is alone among all writers. Never await the network inside. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Loaded only where one of them is still to be made. */
const migrations = {
  '0001-initial': () => import('./migrations/0001-initial.ts'),
  '0002-decisions': () => import('./migrations/0002-decisions.ts'),
  '0003-absence': () => import('./migrations/0003-absence.ts'),
  '0004-collections': () => import('./migrations/0004-collections.ts'),
  '0005-discrepancies': () => import('./migrations/0005-discrepancies.ts'),
  '0006-periods': () => import('./migrations/0006-periods.ts'),
  '0008-brakes': () => import('./migrations/0008-brakes.ts'),
  '0007-listing': () => import('./migrations/0007-listing.ts'),
  '0012-halt-kinds': () => import('./migrations/0012-halt-kinds.ts'),
  '0013-machines': () => import('./migrations/0013-machines.ts'),
  '0014-listed': () => import('./migrations/0014-listed.ts'),
  '0015-carried': () => import('./migrations/0015-carried.ts'),
  '0016-learned-ids': () => import('./migrations/0016-learned-ids.ts'),
  '0017-webhook-keys': () => import('./migrations/0017-webhook-keys.ts'),
  '0018-answers-in-order': () => import('./migrations/0018-answers-in-order.ts'),
  '0020-origins': () => import('./migrations/0020-origins.ts'),
  '0025-verdicts': () => import('./migrations/0025-verdicts.ts'),
  '0022-steps': () => import('./migrations/0022-steps.ts'),
  '0023-file-tasks': () => import('./migrations/0023-file-tasks.ts'),
  '0021-closed-payouts': () => import('./migrations/0021-closed-payouts.ts'),
};

/** The names of every migration this version knows, in their order. */
export const knownMigrations: readonly string[] = Object.keys(migrations);

export type OpenOptions = {
  now: () => string;
  maxPageCount?: number;
  /** The event loop gets its turn between the statements of a SQLite ledger, however many follow each other. */
  breathes?: boolean;
  /**
   * The caller has shut the gate: as `owner` it may write what is sealed; a `copy` has no mark beside it yet, so that a
   * missing one says nothing.
   */
  alone?: 'owner' | 'copy';
  /** Fills a new ledger on PostgreSQL, in the transaction that makes its tables: both are there, or neither. */
  fill?: (trx: Trx) => Promise<void>;
};

/**
 * Opens (and creates or migrates) the ledger: a file, mode 0600 in a folder of mode 0700, or a schema of a PostgreSQL
 * database. A sealed one can only be read. Throws LedgerLocked while it is being restored or moved, and what the database
 * throws: an unreadable, foreign or full file is for the caller to report.
 */
export async function openLedger(where: string | Place, options: OpenOptions): Promise<Ledger> {
  const place = placeOf(where);
  const { path } = place;
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./database/open-postgres.ts');
    return openPostgres(place, options, { migrate, settle, knownMigrations });
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const gate = options.alone ? null : await enterGate(path);
  try {
    if (!options.alone) assertNotHalfSwapped(path);
    return await openFile(path, options, () => gate?.release());
  } catch (error) {
    gate?.release();
    throw withPlace(error, path);
  }
}

async function openFile(path: string, options: OpenOptions, leave: () => void): Promise<Ledger> {
  const limit = options.maxPageCount === undefined ? {} : { maxPageCount: options.maxPageCount };
  const database = openDatabase(path, limit);
  const db = new Kysely<Tables>({
    dialect: new LedgerDialect(database, { breathes: options.breathes ?? false }),
  });
  const write = <T>(work: (trx: Trx) => Promise<T>): Promise<T> => db.transaction().execute(work);
  try {
    chmodSync(path, 0o600);
    if (!(await isCurrent(db))) await write((trx) => migrate(trx));
    const seal = (): void => void database.pragma('query_only = ON');
    const close = async (): Promise<void> => {
      await db.destroy();
      leave();
    };
    return await settle({ db, write, seal, close, place: { kind: 'sqlite', path }, session: null }, options);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** A ledger whose tables are there; `seal` makes its connections read only. */
export type Opened = Pick<Ledger, 'db' | 'write' | 'close' | 'place' | 'session'> & {
  seal(): void | Promise<void>;
};

/** What every opened ledger goes through: its birth, a seal (P26), a fall back in time (P25), and the mark from then on. */
async function settle(opened: Opened, options: OpenOptions): Promise<Ledger> {
  const { db, write, close, place, session } = opened;
  const { path } = place;
  const born = await write((trx) => bornOnce(trx, options.now()));
  const sealed = await findSeal(db, nameOf(place));
  const ledger: Ledger = { db, path, place, session, ...born, write, close };
  if (sealed && !options.alone) {
    await opened.seal();
    return { ...ledger, write: () => Promise.reject(new LedgerSealed(sealed.cause)) };
  }
  // A sealed one sends nothing anyway, and its mark is that of no ledger.
  const fallenBack =
    options.alone !== 'copy' &&
    !sealed &&
    (await write((trx) => noticeFall(trx, path, born.id, options.now())));
  // What fell back is not marked: the old mark is the only one who knows.
  if (fallenBack || options.alone) return ledger;
  const marker = createMarker({ write, path, id: born.id, now: options.now });
  return { ...ledger, write: marker.write, close: () => marker.flush().then(close) };
}

/** Whether a file has every migration of this version, and none of a later one. */
async function isCurrent(db: Db): Promise<boolean> {
  const table = sql`select 1 from sqlite_master where name = 'kysely_migration'`;
  if ((await table.execute(db)).rows.length === 0) return false;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  return done.size === knownMigrations.length && knownMigrations.every((name) => done.has(name));
}

/** All or nothing, and one process at a time: two may open a new ledger at once. */
async function migrate(trx: Trx, schema?: string): Promise<void> {
  const { Migrator } = await import('kysely/migration');
  const loaded = Object.entries(migrations).map(async ([name, load]) => [name, await load()] as const);
  const all = Object.fromEntries(await Promise.all(loaded));
  const migrator = new Migrator({
    db: trx,
    provider: { getMigrations: async () => all },
    ...(schema !== undefined && { migrationTableSchema: schema }),
  });
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
