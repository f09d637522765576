import { type RawBuilder, type Selectable, sql } from 'kysely';
import { perDialect } from '../storage/dialect.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { machineSetting } from '../storage/machine.ts';
import type { FileTaskOutcome } from '../storage/tables/file-tables.ts';
import type { Tables } from '../storage/tables/tables.ts';

/** A file move beside the ledger, as the transaction that promises it records it (P34). */
export type PromisedFile = { source: string; target: string } & (
  | { kind: 'archive'; bytes: number; sha256: string }
  | { kind: 'errors' | 'invalid' }
);

const columns = ['id', 'kind', 'owner', 'source', 'target', 'bytes', 'sha256', 'outcome'] as const;
export type FileTask = Pick<Selectable<Tables['file_moves']>, (typeof columns)[number]>;

/** Records promised file moves. `owner`: the batch, or the file of expected collections. */
export async function promiseFiles(
  trx: Trx,
  { owner, at }: { owner: string; at: string },
  files: readonly PromisedFile[],
): Promise<void> {
  const rows = files.map((file) => ({
    kind: file.kind,
    owner,
    source: file.source,
    target: file.target,
    ...(file.kind === 'archive' && { bytes: BigInt(file.bytes), sha256: file.sha256 }),
    created_at: at,
    done_at: null,
  }));
  for (const row of rows) await trx.insertInto('file_moves').values(row).execute();
}

/** SQL condition: a row of this machine, or from the time when only one machine had the ledger. */
export const ofThisMachine = rowsOfThisMachine('file_moves');

/** The same for the rows of a table with a column `machine`. */
export function rowsOfThisMachine(table: 'file_moves' | 'rejected_files'): RawBuilder<boolean> {
  return perDialect(
    sql<boolean>`1 = 1`,
    sql`${sql.ref(`${table}.machine`)} in ('', coalesce(current_setting(${sql.lit(machineSetting)}, true), ''))`,
  );
}

/** Returns the promised moves in this machine's folders that are not done, in their order. */
export function openFileTasks(db: Db | Trx): Promise<FileTask[]> {
  return db
    .selectFrom('file_moves')
    .select(columns)
    .where('done_at', 'is', null)
    .where(ofThisMachine)
    .orderBy('id')
    .execute();
}

/** Returns moves since `since` (ISO UTC) that could not be done; the newest first, at most ten. */
export function lostFileTasks(db: Db, since: string): Promise<FileTask[]> {
  return db
    .selectFrom('file_moves')
    .select(columns)
    .where('outcome', 'in', ['missing', 'differs'])
    .where('created_at', '>=', since)
    .where(ofThisMachine)
    .orderBy('id', 'desc')
    .limit(10)
    .execute();
}

/** Closes a promised move with its outcome and the final `target`. */
export async function closeFileTask(
  trx: Trx,
  id: bigint,
  { at, outcome, target }: { at: string; outcome: FileTaskOutcome; target: string },
): Promise<void> {
  await trx.updateTable('file_moves').set({ done_at: at, outcome, target }).where('id', '=', id).execute();
}

/** Returns the files moved to the archive since `since` (ISO UTC); the newest first, at most `limit`. */
export function recentArchives(db: Db, since: string, limit: number): Promise<FileTask[]> {
  return db
    .selectFrom('file_moves')
    .select(columns)
    .where('kind', '=', 'archive')
    .where('outcome', '=', 'done')
    .where('created_at', '>=', since)
    .where(ofThisMachine)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
