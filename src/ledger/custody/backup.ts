import { chmodSync, closeSync, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { openDatabase } from '../database/sqlite.ts';
import { type Db, type Ledger, openLedger } from '../open.ts';
import { noteFall } from './barriers.ts';
import { syncFolder } from './mark.ts';
import { backupKeys, batchDigests } from './seal.ts';
import { syncFile } from './swap.ts';

export type BackupMade =
  | { kind: 'made'; bytes: number; batches: number; payouts: number }
  | { kind: 'exists' };

/**
 * Writes a consistent copy of the ledger to a new file of mode 0600, also while others write: it reads one snapshot and
 * blocks nobody. The copy stands behind the barrier of P25 however it is put in a ledger's place, and carries the
 * digests of its batches (P27). Throws what the disk throws; then no file of that name is there.
 */
export async function backupLedger(ledger: Ledger, file: string, at: string): Promise<BackupMade> {
  if (existsSync(file)) return { kind: 'exists' };
  const partial = `${file}.${process.pid}.partial`;
  try {
    copyConsistently(ledger.path, partial);
    const counts = await labelBackup(partial, at);
    syncFile(partial);
    // A link, unlike a rename, never replaces a file that came meanwhile.
    if (!linkNew(partial, file)) return { kind: 'exists' };
    syncFolder(file);
    return { kind: 'made', bytes: statSync(file).size, ...counts };
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal', '.gate']) rmSync(partial + suffix, { force: true });
  }
}

/** Copies the ledger at `path` as it is at one moment into a new file without a write-ahead log. */
export function copyConsistently(path: string, target: string): void {
  rmSync(target, { force: true });
  // Made before SQLite fills it, so that nobody else can read it for a moment.
  closeSync(openSync(target, 'wx', 0o600));
  chmodSync(target, 0o600);
  const source = openDatabase(path);
  try {
    source.prepare('vacuum into ?').run(target);
  } finally {
    source.close();
  }
}

async function labelBackup(file: string, at: string): Promise<{ batches: number; payouts: number }> {
  const copy = await openLedger(file, { now: () => at, alone: 'copy' });
  try {
    let batches = 0;
    let payouts = 0;
    const cause = `this is a backup made at ${at}: it does not know what was sent since. counterfoil restore --adopt makes it safe to use`;
    await copy.write(async (trx) => {
      await noteFall(trx, { at, cause });
      await trx
        .insertInto('meta')
        .values({ key: backupKeys.at, value: at })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: at }))
        .execute();
      await trx.deleteFrom('meta').where('key', 'like', `${backupKeys.digest}%`).execute();
      const last = await trx
        .selectFrom('history')
        .select((eb) => eb.fn.max<bigint | null>('id').as('id'))
        .executeTakeFirst();
      const value = (last?.id ?? 0n).toString();
      await trx
        .insertInto('meta')
        .values({ key: backupKeys.history, value })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
        .execute();
    });
    const undecided = await loadingIds(copy.db);
    for await (const { batch, payouts: n, digest } of batchDigests(copy.db)) {
      batches += 1;
      payouts += n;
      // What is still being taken in may yet be dropped whole: there is nothing to hold it to.
      if (undecided.has(batch)) continue;
      const row = { key: `${backupKeys.digest}${batch}`, value: digest };
      await copy.write((trx) => trx.insertInto('meta').values(row).execute());
    }
    return { batches, payouts };
  } finally {
    await copy.close();
    foldLog(file);
  }
}

async function loadingIds(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('batches').select('id').where('phase', '=', 'loading').execute();
  return new Set(rows.map((row) => row.id));
}

/** One file that needs no other: it may be copied by any means, and read from where nobody may write. */
function foldLog(file: string): void {
  const database = openDatabase(file);
  database.pragma('journal_mode = DELETE');
  database.close();
}

function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') return false;
    // Some file systems (FAT, some network shares) know no links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    if (existsSync(to)) return false;
    renameSync(from, to);
    return true;
  }
}
