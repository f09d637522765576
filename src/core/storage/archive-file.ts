import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Kysely } from 'kysely';
import type { Db, Ledger } from './ledger.ts';
import { LedgerDialect, openDatabase } from './sqlite.ts';
import type { Tables } from './tables/tables.ts';

/** Where an archive of the ledger at `path` lies: in the folder `archive` beside it. */
export function archivePath({ path }: Pick<Ledger, 'path'>, file: string): string {
  return join(dirname(path), 'archive', file);
}

/** An archive that is not where the ledger expects it. */
export class ArchiveAbsent extends Error {}

/** Opens an archive for reading, with the tables of its time. Throws ArchiveAbsent, with the path, without its file. */
export async function openArchive(
  ledger: Pick<Ledger, 'db' | 'path'>,
  id: bigint,
): Promise<{ db: Db; path: string; close(): Promise<void> }> {
  const row = await ledger.db
    .selectFrom('archives')
    .select('file')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const path = archivePath(ledger, row.file);
  if (!existsSync(path)) throw new ArchiveAbsent(`the archive ${path} is not there: put it back`);
  const db = new Kysely<Tables>({ dialect: new LedgerDialect(openDatabase(path, { reads: true })) });
  return { db, path, close: () => db.destroy() };
}
