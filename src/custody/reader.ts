import { Kysely } from 'kysely';
import type { Db, Ledger } from '../storage/ledger.ts';
import { LedgerDialect, openDatabase } from '../storage/sqlite.ts';
import type { Tables } from '../storage/tables/tables.ts';

/** A connection of its own that only reads: it never waits for a transaction of this process, and nobody waits for it. */
export type Reader = { db: Db; close(): Promise<void> };

/** Opens a reader beside an open ledger. On PostgreSQL the ledger's own connections serve: it has several. */
export function openReader(ledger: Pick<Ledger, 'db' | 'place'>): Reader {
  if (ledger.place.kind !== 'sqlite') return { db: ledger.db, close: async () => undefined };
  const database = openDatabase(ledger.place.path);
  database.pragma('query_only = ON');
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(database, { breathes: true }) });
  return { db, close: () => db.destroy() };
}
