import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { ActionNeeded } from '../core/domain/advice.ts';
import type { Mode } from '../core/domain/payout.ts';
import { metaOfKeys } from '../core/ledger/meta.ts';
import { knownMigrations, migrations } from '../core/storage/known-migrations.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { isLedgerFile, type Place, placeName, placeOf } from '../core/storage/place.ts';
import {
  assertMode,
  LedgerAbsent,
  LedgerNewer,
  LedgerOlder,
  readMode,
  type SchemaStanding,
  schemaStanding,
} from '../core/storage/schema-version.ts';
import { LedgerDialect, openDatabase, withPlace } from '../core/storage/sqlite.ts';
import type { Tables } from '../core/storage/tables/tables.ts';
import { enterGate } from './custody-gate.ts';
import { createMarker, findFall, noticeFall } from './marking.ts';
import type { Opened, OpenOptions } from './opening.ts';
import { findSeal } from './seal.ts';
import { assertNotHalfSwapped } from './swap.ts';

/**
 * Opens the ledger, and creates it if there is none: a file of mode 0600 in a folder of mode 0700, or a PostgreSQL
 * schema. A sealed one can only be read. Throws LedgerLocked while it is being restored or moved. Throws LedgerOlder or
 * LedgerNewer for tables of another version, OtherMode, and LedgerAbsent for a reader. Throws the database's errors
 * too: the caller reports an unreadable, foreign or full file.
 */
export async function openLedger(where: string | Place, options: OpenOptions): Promise<Ledger> {
  const place = placeOf(where);
  const { path } = place;
  if (place.kind === 'postgres') {
    const { openPostgres } = await import('./open-postgres.ts');
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
    // Checked again inside the transaction: two processes may open a new ledger together.
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

/** Completes every opening: checks the mode (P24), the seal (P26) and a fall back in time (P25), and keeps the mark. */
async function settle(opened: Opened, options: OpenOptions): Promise<Ledger> {
  const { db, write, close, place, session } = opened;
  const { path } = place;
  const born = options.reads ? await identityOf(db) : await write((trx) => bornOnce(trx, options));
  if (!born) throw new LedgerAbsent(placeName(place));
  assertMode(placeName(place), born.mode, options.mode);
  const sealed = await findSeal(db, placeName(place));
  const ledger: Ledger = { db, path, place, session, ...born, unnotedFall: null, write, close };
  if (options.reads) {
    const unnotedFall = sealed ? null : await findFall(db, path, { id: born.id, at: options.now() });
    return { ...ledger, unnotedFall, write: () => Promise.reject(new Error('this command only reads')) };
  }
  if (sealed && !options.alone) {
    await opened.seal();
    return { ...ledger, write: () => Promise.reject(new LedgerSealed(sealed.why, sealed.advice)) };
  }
  // A sealed ledger sends nothing anyway, and its mark has no ledger's name.
  const fallenBack =
    options.alone !== 'copy' &&
    !sealed &&
    (await write((trx) => noticeFall(trx, path, born.id, options.now())));
  // A ledger that fell back is not marked: only the old mark knows about the fall.
  if (fallenBack || options.alone) return ledger;
  const file = isLedgerFile(place) ? db : null;
  const marker = createMarker({ write, path, id: born.id, now: options.now, file });
  return { ...ledger, write: marker.write, close: () => marker.flush().then(close) };
}

/** The migrations of a ledger file; null where it has no tables yet. */
async function migrationsOf(db: Db | Trx): Promise<string[] | null> {
  const table = sql`select 1 from sqlite_master where name = 'kysely_migration'`;
  if ((await table.execute(db)).rows.length === 0) return null;
  const rows = await db.selectFrom('kysely_migration').select('name').execute();
  return rows.map(({ name }) => name);
}

/** Whether this process must create or upgrade the tables; throws where it may not. `name` is the ledger's. */
function mustMigrate(done: readonly string[] | null, name: string, options: OpenOptions): boolean {
  const standing: SchemaStanding = schemaStanding(done, knownMigrations());
  if (standing === 'newer') throw new LedgerNewer(name);
  if (standing === 'older' && options.alone !== 'upgrade') throw new LedgerOlder(name);
  if (standing === 'new' && options.reads) throw new LedgerAbsent(name);
  return standing !== 'current';
}

/** Migrates all or nothing, one process at a time. Throws OtherMode, so that a process of the other mode changes nothing. */
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

/** The ledger was moved permanently (P26); the message names the new place. */
export class LedgerSealed extends ActionNeeded {
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

/** Null where a process created the tables and died before it recorded the identity. */
async function identityOf(db: Db | Trx): Promise<Identity | null> {
  const own = await metaOfKeys(db, ['ledger_id', 'birth', 'mode']);
  if (own.size === 0) return null;
  const [id = '', birth = ''] = [own.get('ledger_id'), own.get('birth')];
  return { id, birth, mode: readMode('the ledger', own.get('mode')) };
}
