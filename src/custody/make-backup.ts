import { chmodSync, closeSync, existsSync, fdatasyncSync, openSync, rmSync, statSync } from 'node:fs';
import { Kysely } from 'kysely';
import { noteFall } from '../core/ledger/barriers.ts';
import { newestHistory } from '../core/ledger/history.ts';
import { setMeta } from '../core/ledger/meta.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { LedgerNewer, LedgerOlder } from '../core/storage/schema-version.ts';
import { LedgerDialect, openDatabase, withDatabase } from '../core/storage/sqlite.ts';
import { syncFolder } from '../core/storage/sync-folder.ts';
import type { Tables } from '../core/storage/tables/tables.ts';
import { linkNew } from './mark.ts';
import { openLedger } from './open-ledger.ts';
import { backupKeys, batchDigests } from './seal.ts';
import { removeFile, syncFile } from './swap.ts';

export type BackupMade = { kind: 'made'; bytes: number; holds: Holds } | { kind: 'exists' };

/** `null`: the tables are of another version of Counterfoil, and only that version can count and prove the contents. */
type Holds = { batches: number; payouts: number } | null;

/**
 * Writes a consistent copy of the ledger to a new file of mode 0600, even while others write: it reads one snapshot and
 * blocks nobody. The copy is behind the barrier of P25 from the start, and carries the digests of its batches (P27).
 * The tables stay unchanged, in any version. Throws disk errors, and then leaves no file of that name.
 */
export async function backupLedger(
  { path, pace = 'gentle' }: { path: string; pace?: Pace },
  file: string,
  at: string,
): Promise<BackupMade> {
  if (existsSync(file)) return { kind: 'exists' };
  const partial = `${file}.${process.pid}.partial`;
  try {
    await copyConsistently(path, partial, pace);
    const holds = await labelBackup(partial, at);
    syncFile(partial);
    // A link, unlike a rename, never replaces a file created meanwhile.
    if (!linkNew(partial, file)) return { kind: 'exists' };
    syncFolder(file);
    return { kind: 'made', bytes: statSync(file).size, holds };
  } finally {
    removeFile(partial);
  }
}

/** Makes the backup before an upgrade, beside the ledger; returns its path. The gate must be shut. */
export async function copyOlder(path: string, at: string): Promise<string> {
  const name = `${path}.before-upgrade-${at.replaceAll(/[-:.]/g, '')}`;
  for (let n = 1; ; n++) {
    const file = n === 1 ? name : `${name}-${n}`;
    if ((await backupLedger({ path, pace: 'full' }, file, at)).kind === 'made') return file;
  }
}

/** Pages that are copied between two syncs: two megabytes. */
const pagesAtOnce = 512;

/** `full`: the gate is shut, so that nobody waits for the disk meanwhile; the caller syncs the file. */
type Pace = 'gentle' | 'full';

/**
 * Copies the ledger at `path`, as of one moment, into a new file without a write-ahead log. It goes in small steps, and
 * each is on the disk before the next: a commit to the ledger waits for all that its disk still has to write. After each
 * step it rests for as long as the disk took.
 */
export async function copyConsistently(path: string, target: string, pace: Pace = 'gentle'): Promise<void> {
  rmSync(target, { force: true });
  // Created with its mode before SQLite fills it, so that no other account can ever read it.
  const file = openSync(target, 'wx', 0o600);
  const source = openDatabase(path);
  try {
    chmodSync(target, 0o600);
    // All steps read in this transaction: what is committed meanwhile neither reaches the copy nor begins it again.
    source.exec('begin');
    source.prepare('select 1 from sqlite_master').get();
    await source.backup(target, {
      progress() {
        if (pace === 'full') return pagesAtOnce;
        const began = performance.now();
        fdatasyncSync(file);
        rest(performance.now() - began);
        return pagesAtOnce;
      },
    });
  } finally {
    source.close();
    closeSync(file);
  }
  foldLog(target);
}

function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function labelBackup(file: string, at: string): Promise<Holds> {
  const why = `this is a backup made at ${at}: it does not know what was sent since`;
  try {
    await writeRaw(file, (trx) => noteFall(trx, { at, why, advice: { kind: 'adopt' } }));
    return await addDigests(file, at);
  } catch (error) {
    if (error instanceof LedgerOlder || error instanceof LedgerNewer) return null;
    throw error;
  } finally {
    foldLog(file);
  }
}

async function addDigests(file: string, at: string): Promise<Holds> {
  const copy = await openLedger(file, { now: () => at, alone: 'copy' });
  try {
    await copy.write((trx) => beginDigests(trx, at));
    let batches = 0;
    let payouts = 0;
    const undecided = await loadingIds(copy.db);
    for await (const { batch, payouts: n, digest } of batchDigests(copy.db)) {
      batches += 1;
      payouts += n;
      // A batch still in intake may be dropped: it gets no digest.
      if (undecided.has(batch)) continue;
      await copy.write((trx) => setMeta(trx, `${backupKeys.digest}${batch}`, digest));
    }
    return { batches, payouts };
  } finally {
    await copy.close();
  }
}

/** Replaces the digests that a backup of a backup inherits. */
async function beginDigests(trx: Trx, at: string): Promise<void> {
  await trx.deleteFrom('meta').where('key', 'like', `${backupKeys.digest}%`).execute();
  await setMeta(trx, backupKeys.at, at);
  await setMeta(trx, backupKeys.history, (await newestHistory(trx)).toString());
}

async function loadingIds(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('batches').select('id').where('phase', '=', 'loading').execute();
  return new Set(rows.map((row) => row.id));
}

/** Merges the log into the file: a single file can be copied by any means and read in a read-only folder. */
function foldLog(file: string): void {
  withDatabase(file, (database) => database.pragma('journal_mode = DELETE'));
}

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
