import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely, sql } from 'kysely';
import { isLockConflict, PostgresFailure } from '../core/storage/failure.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { machineOf, nameMachine } from '../core/storage/machine.ts';
import { type PostgresPlace, placeName, schemaOf } from '../core/storage/place.ts';
import { clientConfig, tolerateBreaks } from '../core/storage/postgres-client.ts';
import { LedgerPostgresDialect } from '../core/storage/postgres-driver.ts';
import { prelude } from '../core/storage/postgres-schema.ts';
import { assertFit } from '../core/storage/postgres-server.ts';
import { openPostgresSession, type PostgresSession } from '../core/storage/postgres-session.ts';
import type { Tables } from '../core/storage/tables/tables.ts';
import { enterShared } from './custody-gate.ts';
import type { Common, OpenOptions } from './opening.ts';

/** Connections for reading, plus the one of the write transaction. */
const connections = 6;

/**
 * Opens the ledger in a schema of a PostgreSQL database. Throws PostgresFailure when the server is unreachable, or
 * could lose a commit; LedgerLocked while the ledger is being moved or adopted.
 */
export async function openPostgres(
  place: PostgresPlace,
  options: OpenOptions,
  common: Common,
): Promise<Ledger> {
  if (!options.reads) mkdirSync(dirname(place.path), { recursive: true, mode: 0o700 });
  const session = await openPostgresSession(place.url);
  try {
    await assertFit(session);
    if (!options.alone) await enterShared(session);
    return await openTables(place, options, session, common);
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function openTables(
  place: PostgresPlace,
  options: OpenOptions,
  session: PostgresSession,
  { mustMigrate, migrate, settle }: Common,
): Promise<Ledger> {
  const { Pool } = await import('pg');
  const machine = options.reads ? machineOf(place.path) : nameMachine(place.path);
  const pool = new Pool({
    ...clientConfig(place.url, { machine }),
    stream: session.stream,
    max: connections,
  });
  tolerateBreaks(pool);
  const db = new Kysely<Tables>({ dialect: new LedgerPostgresDialect(pool, session.begin) });
  const write = oneAtATime(session, (work) => db.transaction().execute(work).catch(namingHolders(session)));
  try {
    const schema = schemaOf(place.url);
    const name = placeName(place);
    const due = async (): Promise<boolean> => mustMigrate(await migrationsOf(session, schema), name, options);
    const make = async (trx: Trx): Promise<void> => {
      // Checked again under the write lock: two processes may open a new ledger together.
      if (!(await due())) return;
      await prepare(trx, schema, () => migrate(trx, options.mode, schema));
      await options.fill?.(trx);
    };
    if (await due()) await write(make);
    const seal = (): void => {
      // Runs before any other query of the connection.
      pool.on('acquire', (client) => {
        client.query('set default_transaction_read_only = on').catch(() => undefined);
      });
    };
    const close = async (): Promise<void> => {
      await db.destroy();
      await session.close();
    };
    if (options.reads) seal();
    return await settle({ db, write, seal, close, place, session }, options);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** The migrations of a schema's tables; null where there are none yet. */
async function migrationsOf(session: PostgresSession, schema: string): Promise<string[] | null> {
  const [row] = await session.ask(`select to_regclass('"${schema}".kysely_migration') is not null as there`);
  if (row?.there !== 1n) return null;
  const rows = await session.ask('select name from kysely_migration');
  return rows.map(({ name }) => String(name));
}

/** Creates the schema and its tables, in the transaction of the first process. */
async function prepare(trx: Trx, schema: string, migrate: () => Promise<void>): Promise<void> {
  const there = await sql`select 1 from pg_namespace where nspname = ${schema}`.execute(trx);
  if (there.rows.length === 0) await sql`create schema ${sql.id(schema)}`.execute(trx);
  const made = await sql`select 1 from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = ${schema} and p.proname = 'json_each'`.execute(trx);
  if (made.rows.length === 0) await sql.raw(prelude).execute(trx);
  await migrate();
}

/** Adds the blocking sessions to a lock conflict: a person must know whom to ask to end it. */
function namingHolders({ holders }: Pick<PostgresSession, 'holders'>): (error: unknown) => Promise<never> {
  return async (error) => {
    if (!isLockConflict(error)) throw error;
    const who = await holders();
    throw who === '' ? error : new PostgresFailure('HELD', `${error.message}: ${who}`, error.cause);
  };
}

/**
 * Runs the write transactions of this process one after another. In parallel they would only wait for the ledger's
 * lock, each on a connection that a reader could use.
 */
function oneAtATime(
  session: PostgresSession,
  run: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>,
): Ledger['write'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(() => {
      const lost = session.lost();
      if (lost) throw lost;
      return run(work);
    });
    last = done.catch(() => undefined);
    return done;
  };
}
