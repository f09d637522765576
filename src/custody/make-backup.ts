import { chmodSync, closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { noteFall } from '../ledger/barriers.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { LedgerNewer, LedgerOlder } from '../storage/schema-version.ts';
import { openDatabase } from '../storage/sqlite.ts';
import { syncFolder } from '../storage/sync-folder.ts';
import { linkNew } from './mark.ts';
import { openLedger } from './open-ledger.ts';
import { writeRaw } from './raw.ts';
import { backupKeys, batchDigests } from './seal.ts';
import { syncFile } from './swap.ts';

export type BackupMade = { kind: 'made'; bytes: number; holds: Holds } | { kind: 'exists' };

/** `null`: the tables are of another version of Counterfoil, and only that version can count and prove the contents. */
type Holds = { batches: number; payouts: number } | null;

/**
 * Writes a consistent copy of the ledger to a new file of mode 0600, even while others write: it reads one snapshot and
 * blocks nobody. The copy is behind the barrier of P25 from the start, and carries the digests of its batches (P27).
 * The tables stay unchanged, in any version. Throws disk errors, and then leaves no file of that name.
 */
export async function backupLedger(
  { path }: { path: string },
  file: string,
  at: string,
): Promise<BackupMade> {
  if (existsSync(file)) return { kind: 'exists' };
  const partial = `${file}.${process.pid}.partial`;
  try {
    copyConsistently(path, partial);
    const holds = await labelBackup(partial, at);
    syncFile(partial);
    // A link, unlike a rename, never replaces a file created meanwhile.
    if (!linkNew(partial, file)) return { kind: 'exists' };
    syncFolder(file);
    return { kind: 'made', bytes: statSync(file).size, holds };
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal', '.gate']) rmSync(partial + suffix, { force: true });
  }
}

/** Makes the backup before an upgrade, beside the ledger; returns its path. The gate must be shut. */
export async function copyOlder(path: string, at: string): Promise<string> {
  const name = `${path}.before-upgrade-${at.replaceAll(/[-:.]/g, '')}`;
  for (let n = 1; ; n++) {
    const file = n === 1 ? name : `${name}-${n}`;
    if ((await backupLedger({ path }, file, at)).kind === 'made') return file;
  }
}

/** Copies the ledger at `path`, as of one moment, into a new file without a write-ahead log. */
export function copyConsistently(path: string, target: string): void {
  rmSync(target, { force: true });
  // Created with its mode before SQLite fills it, so that no other account can ever read it.
  closeSync(openSync(target, 'wx', 0o600));
  chmodSync(target, 0o600);
  const source = openDatabase(path);
  try {
    source.prepare('vacuum into ?').run(target);
  } finally {
    source.close();
  }
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
      const row = { key: `${backupKeys.digest}${batch}`, value: digest };
      await copy.write((trx) => trx.insertInto('meta').values(row).execute());
    }
    return { batches, payouts };
  } finally {
    await copy.close();
  }
}

/** Replaces the digests that a backup of a backup inherits. */
async function beginDigests(trx: Trx, at: string): Promise<void> {
  await trx.deleteFrom('meta').where('key', 'like', `${backupKeys.digest}%`).execute();
  const last = await trx
    .selectFrom('history')
    .select((eb) => eb.fn.max<bigint | null>('id').as('id'))
    .executeTakeFirst();
  for (const [key, value] of [
    [backupKeys.at, at],
    [backupKeys.history, (last?.id ?? 0n).toString()],
  ] as const)
    await trx
      .insertInto('meta')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
      .execute();
}

async function loadingIds(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('batches').select('id').where('phase', '=', 'loading').execute();
  return new Set(rows.map((row) => row.id));
}

/** Merges the log into the file: a single file can be copied by any means and read in a read-only folder. */
function foldLog(file: string): void {
  const database = openDatabase(file);
  database.pragma('journal_mode = DELETE');
  database.close();
}
