import { Kysely, sql } from 'kysely';
import type { Db, Trx } from '../storage/ledger.ts';
import { type Place, placeOf } from '../storage/place.ts';
import { LedgerDialect, openDatabase } from '../storage/sqlite.ts';
import type { Payout, Tables } from '../storage/tables/tables.ts';

/** Rows of one query: few enough to keep memory flat. */
const pageSize = 500;

/** Opens a read connection whose queries all see the same moment, and which no writer waits for. */
export async function openSnapshot(where: string | Place): Promise<{ db: Db; close(): Promise<void> }> {
  const place = placeOf(where);
  if (place.kind === 'postgres') return snapshotOfSchema(place.url);
  // Opened for writing: a reader of a write-ahead log must write the log's index.
  return snapshotOfFile(openDatabase(place.path));
}

/** As {@link openSnapshot}, for a file without a write-ahead log that must not change. */
export function openUnchanged(path: string): Promise<{ db: Db; close(): Promise<void> }> {
  return snapshotOfFile(openDatabase(path, { reads: true }));
}

async function snapshotOfFile(
  database: ReturnType<typeof openDatabase>,
): Promise<{ db: Db; close(): Promise<void> }> {
  database.pragma('query_only = ON');
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(database) });
  try {
    // Kysely has one connection here, so that this transaction covers every later query.
    await sql`begin`.execute(db);
    await sql`select count(*) from meta`.execute(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}

async function snapshotOfSchema(url: string): Promise<{ db: Db; close(): Promise<void> }> {
  const { Pool } = await import('pg');
  const { clientConfig, tolerateBreaks } = await import('../storage/postgres-client.ts');
  const { LedgerPostgresDialect } = await import('../storage/postgres-driver.ts');
  // A single connection that is never closed, so that this transaction covers every later query.
  const pool = new Pool({ ...clientConfig(url, { standsStill: true }), max: 1, idleTimeoutMillis: 0 });
  tolerateBreaks(pool);
  const db = new Kysely<Tables>({ dialect: new LedgerPostgresDialect(pool) });
  try {
    await sql`start transaction isolation level repeatable read read only`.execute(db);
    await sql`select count(*) from meta`.execute(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return { db, close: () => db.destroy() };
}

/** Ids of every batch, a page at a time. */
export async function* everyBatch(db: Db | Trx): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const page = await db
      .selectFrom('batches')
      .select('id')
      .where('id', '>', after)
      .orderBy('id')
      .limit(pageSize)
      .execute();
    for (const { id } of page) yield id;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.id;
  }
}

/** The payouts of a batch in row order, a page at a time; a successor may share the row of the payout it repeats. */
export async function* everyPayout(db: Db | Trx, batch: string): AsyncGenerator<Payout[]> {
  for (let row = -1n, id = -1n; ; ) {
    const page = await db
      .selectFrom('payouts')
      .selectAll()
      .where('batch_id', '=', batch)
      .where(sql<boolean>`(row_number, id) > (${row}, ${id})`)
      .orderBy('row_number')
      .orderBy('id')
      .limit(pageSize)
      .execute();
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    row = last.row_number;
    id = last.id;
  }
}

/** As {@link everyPayout}, but only the heads of the histories. */
export async function* everyHead(db: Db | Trx, batch: string): AsyncGenerator<string[]> {
  for (let row = -1n, id = -1n; ; ) {
    const page = await db
      .selectFrom('payouts')
      .select(['row_number', 'id', 'history_head'])
      .where('batch_id', '=', batch)
      .where(sql<boolean>`(row_number, id) > (${row}, ${id})`)
      .orderBy('row_number')
      .orderBy('id')
      .limit(pageSize)
      .execute();
    if (page.length > 0) yield page.map((one) => one.history_head);
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    row = last.row_number;
    id = last.id;
  }
}
