import { Kysely } from 'kysely';
import type { Trx } from '../storage/ledger.ts';
import { LedgerDialect, openDatabase } from '../storage/sqlite.ts';
import type { Tables } from '../storage/tables/tables.ts';

/**
 * Runs `work` in one transaction on a ledger file of any version, whose tables stay unchanged. No other process may
 * have it open. Only for `meta` and the first columns of `history`, which every version has.
 */
export async function writeRaw<T>(path: string, work: (trx: Trx) => Promise<T>): Promise<T> {
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(openDatabase(path)) });
  try {
    return await db.transaction().execute(work);
  } finally {
    await db.destroy();
  }
}
