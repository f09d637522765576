import { stat, statfs } from 'node:fs/promises';
import { sql } from 'kysely';
import { isPostgres } from './dialect.ts';
import type { Db, Trx } from './ledger.ts';

/** Bytes that this account may still write beside the data folder. Throws disk errors. */
export async function freeBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}

/** The bytes of a ledger's file with its journal; 0 without one. */
export async function fileBytes(ledgerFile: string): Promise<number> {
  const sizes = [ledgerFile, `${ledgerFile}-wal`].map((file) =>
    stat(file).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The size of the ledger in bytes: its file without the log, or its tables and indexes on PostgreSQL. */
export async function ledgerBytes(db: Db | Trx): Promise<bigint> {
  const ofFile = sql<{ bytes: bigint }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`;
  const ofSchema = sql<{ bytes: bigint }>`
    select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'`;
  const { rows } = await (isPostgres(db) ? ofSchema : ofFile).execute(db);
  return rows[0]?.bytes ?? 0n;
}
