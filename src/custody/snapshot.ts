import { type Dialect, Kysely, type RawBuilder, sql } from 'kysely';
import { keyset } from '../core/storage/keyset.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { isLedgerFile, type Place, placeOf } from '../core/storage/place.ts';
import { LedgerDialect, openDatabase } from '../core/storage/sqlite.ts';
import type { Payout, Tables } from '../core/storage/tables/tables.ts';

/** Rows of one query: few enough to keep memory flat. */
const pageSize = 500;

/** A connection of its own that only reads: it never waits for a transaction of this process, and nobody waits for it. */
export type Reader = { db: Db; close(): Promise<void> };

/** Opens a reader beside an open ledger. On PostgreSQL the ledger's own connections serve: it has several. */
export function openReader(ledger: Pick<Ledger, 'db' | 'place'>): Reader {
  if (!isLedgerFile(ledger.place)) return { db: ledger.db, close: async () => undefined };
  const database = openDatabase(ledger.place.path);
  database.pragma('query_only = ON');
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(database, { breathes: true }) });
  return { db, close: () => db.destroy() };
}

/** Opens a reader whose queries all see the same moment. */
export async function openSnapshot(where: string | Place): Promise<Reader> {
  const place = placeOf(where);
  if (!isLedgerFile(place)) return snapshotOfSchema(place.url);
  // Opened for writing: a reader of a write-ahead log must write the log's index.
  return snapshotOfFile(openDatabase(place.path));
}

/** As {@link openSnapshot}, for a file without a write-ahead log that must not change. */
export function openUnchanged(path: string): Promise<Reader> {
  return snapshotOfFile(openDatabase(path, { reads: true }));
}

function snapshotOfFile(database: ReturnType<typeof openDatabase>): Promise<Reader> {
  database.pragma('query_only = ON');
  return snapshotOf(new LedgerDialect(database), sql`begin`);
}

async function snapshotOfSchema(url: string): Promise<Reader> {
  const { Pool } = await import('pg');
  const { clientConfig, tolerateBreaks } = await import('../core/storage/postgres-client.ts');
  const { LedgerPostgresDialect } = await import('../core/storage/postgres-driver.ts');
  const pool = new Pool({ ...clientConfig(url, { standsStill: true }), max: 1, idleTimeoutMillis: 0 });
  tolerateBreaks(pool);
  const begin = sql`start transaction isolation level repeatable read read only`;
  return snapshotOf(new LedgerPostgresDialect(pool), begin);
}

/** There is one connection, which is never closed meanwhile, so that this transaction covers every later query. */
async function snapshotOf(dialect: Dialect, begin: RawBuilder<unknown>): Promise<Reader> {
  const db = new Kysely<Tables>({ dialect });
  try {
    await begin.execute(db);
    await sql`select count(*) from meta`.execute(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}

export async function* everyBatch(db: Db | Trx): AsyncGenerator<string> {
  const pages = keyset<{ id: string }>(pageSize, (last) => {
    const rest = db.selectFrom('batches').where('id', '>', last?.id ?? '');
    return rest.select('id').orderBy('id').limit(pageSize).execute();
  });
  for await (const page of pages) for (const { id } of page) yield id;
}

/** The payouts of a batch in row order, a page at a time; a successor may share the row of the payout it repeats. */
export function everyPayout(db: Db | Trx, batch: string): AsyncGenerator<Payout[]> {
  return keyset<Payout>(pageSize, (last) => pageBehind(db, batch, last).selectAll().execute());
}

/** As {@link everyPayout}, but only the heads of the histories. */
export async function* everyHead(db: Db | Trx, batch: string): AsyncGenerator<string[]> {
  const pages = keyset<RowPlace & Pick<Payout, 'history_head'>>(pageSize, (last) =>
    pageBehind(db, batch, last).select(['row_number', 'id', 'history_head']).execute(),
  );
  for await (const page of pages) yield page.map((one) => one.history_head);
}

type RowPlace = Pick<Payout, 'row_number' | 'id'>;

function pageBehind(db: Db | Trx, batch: string, last: RowPlace | undefined) {
  return db
    .selectFrom('payouts')
    .where('batch_id', '=', batch)
    .where(sql<boolean>`(row_number, id) > (${last?.row_number ?? -1n}, ${last?.id ?? -1n})`)
    .orderBy('row_number')
    .orderBy('id')
    .limit(pageSize);
}
