import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql, type Transaction } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Mode } from '../domain/payout.ts';
import type { Barrier } from './custody/barriers.ts';
import { enterGate } from './custody/gate.ts';
import { createMarker, findFall, noticeFall } from './custody/marking.ts';
import {
  assertMode,
  LedgerAbsent,
  LedgerNewer,
  LedgerOlder,
  readMode,
  type SchemaStanding,
  schemaStanding,
} from './custody/schema.ts';
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
  /** The one mode that it belongs to from its birth (P24). */
  mode: Mode;
  /** Why nothing may be sent from a ledger that only reads and went back in time, unless that is noted in it (P25). */
  unnotedFall: Barrier | null;
  /** Runs `work` in one transaction that is alone among all writers. Never await the network inside. */
  write<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Every migration that this version knows, in their order. Loaded only where one of them is still to be made. */
export const migrations: Record<string, () => Promise<Migration>> = {
  '0001-initial': () => import('./migrations/0001-initial.ts'),
};

export const knownMigrations = (): readonly string[] => Object.keys(migrations);

export type OpenOptions = {
  now: () => string;
  /**
   * The mode of this process: a new ledger is bound to it, and any other must be of it (P24). Absent: whatever the
   * ledger belongs to, and a new one is of test mode.
   */
  mode?: Mode;
  maxPageCount?: number;
  /** The event loop gets its turn between the statements of a SQLite ledger, however many follow each other. */
  breathes?: boolean;
  /** Only reads: nothing is made, upgraded, noted or marked, and `write` is refused. */
  reads?: boolean;
  /**
   * The caller has shut the gate: as `owner` it may write what is sealed; a `copy` has no mark beside it yet, so that a
   * missing one says nothing; `upgrade` brings the tables to this version, and the caller has made a backup.
   */
  alone?: 'owner' | 'copy' | 'upgrade';
  /** Fills a new ledger on PostgreSQL, in the transaction that makes its tables: both are there, or neither. */
  fill?: (trx: Trx) => Promise<void>;
};

/**
 * Opens the ledger, and makes it where there is none: a file, mode 0600 in a folder of mode 0700, or a schema of a
 * PostgreSQL database. A sealed one can only be read. Throws LedgerLocked while it is being restored or moved, LedgerOlder
 * or LedgerNewer where its tables are of another version, OtherMode, LedgerAbsent where it is only to be read, and what the
 * database throws: an unreadable, foreign or full file is for the caller to report.
 */
export async function openLedger(where: string | Place, options: OpenOptions): Promise<Ledger> {
  const place = placeOf(where);
  const { path } = place;
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./database/open-postgres.ts');
    return openPostgres(place, options, { mustMigrate, migrate, settle });
  }
  if (options.reads && !existsSync(path)) {
    assertNotHalfSwapped(path);
    throw new LedgerAbsent(path);
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
  const { maxPageCount, reads = false } = options;
  const database = openDatabase(path, { reads, ...(maxPageCount !== undefined && { maxPageCount }) });
  const db = new Kysely<Tables>({
    dialect: new LedgerDialect(database, { breathes: options.breathes ?? false }),
  });
  const write = <T>(work: (trx: Trx) => Promise<T>): Promise<T> => db.transaction().execute(work);
  try {
    if (!reads) chmodSync(path, 0o600);
    // Asked again inside the transaction: two processes may open a new ledger at once.
    if (mustMigrate(await migrationsOf(db), path, options))
      await write(async (trx) => {
        if (!mustMigrate(await migrationsOf(trx), path, options)) return;
        await migrate(trx, options.mode);
      });
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

/** What every opened ledger goes through: its mode (P24), a seal (P26), a fall back in time (P25), and the mark from then on. */
async function settle(opened: Opened, options: OpenOptions): Promise<Ledger> {
  const { db, write, close, place, session } = opened;
  const { path } = place;
  const born = options.reads ? await identityOf(db) : await write((trx) => bornOnce(trx, options));
  if (!born) throw new LedgerAbsent(nameOf(place));
  assertMode(nameOf(place), born.mode, options.mode);
  const sealed = await findSeal(db, nameOf(place));
  const ledger: Ledger = { db, path, place, session, ...born, unnotedFall: null, write, close };
  if (options.reads) {
    const unnotedFall = sealed ? null : await findFall(db, path, { id: born.id, at: options.now() });
    return { ...ledger, unnotedFall, write: () => Promise.reject(new Error('this command only reads')) };
  }
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

/** The migrations that a ledger file has; null where it has no tables yet. */
async function migrationsOf(db: Db | Trx): Promise<string[] | null> {
  const table = sql`select 1 from sqlite_master where name = 'kysely_migration'`;
  if ((await table.execute(db)).rows.length === 0) return null;
  const rows = await db.selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}

/** Whether this process is to make or upgrade the tables; throws where it may not. `name` is the ledger's. */
function mustMigrate(done: readonly string[] | null, name: string, options: OpenOptions): boolean {
  const standing: SchemaStanding = schemaStanding(done, knownMigrations());
  if (standing === 'newer') throw new LedgerNewer(name);
  if (standing === 'older' && options.alone !== 'upgrade') throw new LedgerOlder(name);
  if (standing === 'new' && options.reads) throw new LedgerAbsent(name);
  return standing !== 'current';
}

/** All or nothing, and one process at a time. Throws OtherMode, so that nothing is changed for a process of the other mode. */
async function migrate(trx: Trx, mode: Mode | undefined, schema?: string): Promise<void> {
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
  assertMode('this ledger', (await identityOf(trx))?.mode, mode);
}

/** The ledger was moved for ever (P26); the message says where to. */
export class LedgerSealed extends Error {
  readonly code = 'LEDGER_SEALED';
}

async function bornOnce(trx: Trx, { now, mode = 'test' }: OpenOptions): Promise<Identity | null> {
  await trx
    .insertInto('meta')
    .values([
      { key: 'ledger_id', value: randomUUID() },
      { key: 'birth', value: now() },
      { key: 'mode', value: mode },
    ])
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
  return identityOf(trx);
}

type Identity = Pick<Ledger, 'id' | 'birth' | 'mode'>;

/** Null where a process made the tables and died before it wrote down whose they are. */
async function identityOf(db: Db | Trx): Promise<Identity | null> {
  const keys = ['ledger_id', 'birth', 'mode'];
  const rows = await db.selectFrom('meta').selectAll().where('key', 'in', keys).execute();
  if (rows.length === 0) return null;
  const value = (key: string): string => rows.find((row) => row.key === key)?.value ?? '';
  return { id: value('ledger_id'), birth: value('birth'), mode: readMode('the ledger', value('mode')) };
}
