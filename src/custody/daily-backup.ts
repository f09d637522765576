import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Ledger } from '../core/storage/ledger.ts';
import { backupName, backupPrefix, type DailyBackup, dailyBackups, expiredBackups } from './backup-names.ts';
import type { BackupMade } from './make-backup.ts';

/** Stays free beside a backup: a full disk stops sending when the ledger is on the same one. */
const spareBytes = 256 * 1024 * 1024;

export type BackupTask = { path: string; file: string; at: string };
export type BackupAnswer = { kind: 'done'; made: BackupMade } | { kind: 'failed'; message: string };

type Backed = Pick<Ledger, 'id' | 'path'>;

/**
 * Writes the day's backup of a SQLite ledger to `folder` and deletes those that its rotation no longer keeps. A thread
 * of its own does the copying, so that webhooks are answered meanwhile. Throws when the folder is not there, has no room
 * or cannot be written; the older backups then stay.
 */
export async function makeDailyBackup(
  ledger: Backed,
  { folder, at }: { folder: string; at: string },
): Promise<{ file: string; bytes: number; deleted: number }> {
  makeFolder(folder);
  dropUnfinished(ledger, folder);
  assertRoom(ledger, folder);
  const file = join(folder, backupName(ledger.id, at));
  const made = await inThread({ path: ledger.path, file, at });
  if (made.kind === 'exists') throw new Error(`${file} is there already and is not overwritten`);
  const expired = expiredBackups(readFolder(ledger, folder), at);
  for (const { name } of expired) rmSync(join(folder, name), { force: true });
  return { file, bytes: made.bytes, deleted: expired.length };
}

/** The newest daily backup of the ledger in `folder`; undefined when there is none. */
export function newestBackup(ledger: Pick<Ledger, 'id'>, folder: string): DailyBackup | undefined {
  return existsSync(folder) ? readFolder(ledger, folder)[0] : undefined;
}

function readFolder({ id }: Pick<Ledger, 'id'>, folder: string): DailyBackup[] {
  return dailyBackups(id, readdirSync(folder));
}

/** Makes the folder, but not the one above it: without its disk, backups would fill the disk of the ledger. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  if (!existsSync(dirname(folder)))
    throw new Error(
      `there is no folder ${dirname(folder)} for ledger.backup_dir: make it, or mount its disk`,
    );
  mkdirSync(folder, { mode: 0o700 });
}

/** Deletes what a process that died left half-written. */
function dropUnfinished({ id }: Backed, folder: string): void {
  for (const name of readdirSync(folder))
    if (name.startsWith(backupPrefix(id)) && name.includes('.partial')) rmSync(join(folder, name));
}

function assertRoom({ path }: Backed, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const need = statSync(path).size + spareBytes;
  if (bavail * bsize >= need) return;
  const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;
  throw new Error(
    `${folder} has ${mib(bavail * bsize)} free, and a backup needs ${mib(need)}: free some space`,
  );
}

async function inThread(task: BackupTask): Promise<BackupMade> {
  const { promise, resolve, reject } = Promise.withResolvers<BackupMade>();
  // The installed program is compiled: its files end in `.js`.
  const script = new URL(`./backup-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, { name: 'backup', workerData: task });
  worker.on('message', (answer: BackupAnswer) => {
    if (answer.kind === 'done') resolve(answer.made);
    else reject(new Error(answer.message));
  });
  worker.on('error', reject);
  worker.on('exit', (code) => reject(new Error(`the thread that makes the backup ended with code ${code}`)));
  return promise;
}
