import type { Db, Trx } from '../storage/ledger.ts';
import type { FileTaskKind, FileTaskOutcome } from '../storage/tables/file-tables.ts';
import { ofThisMachine } from './this-machine.ts';

/** A file move beside the ledger, as the transaction that promises it records it (P34). */
export type PromisedFile = { source: string; target: string } & (
  | { kind: 'archive'; bytes: number; sha256: string }
  | { kind: 'errors' | 'invalid' }
);

export type FileTask = {
  id: bigint;
  kind: FileTaskKind;
  owner: string;
  source: string;
  target: string;
  bytes: bigint | null;
  sha256: string;
  outcome: FileTaskOutcome | null;
};

const columns = ['id', 'kind', 'owner', 'source', 'target', 'bytes', 'sha256', 'outcome'] as const;

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
