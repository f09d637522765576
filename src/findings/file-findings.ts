import { stat } from 'node:fs/promises';
import type { FileWait } from '../core/domain/waiting-file.ts';
import { type FileTask, lostFileTasks, recentArchives } from '../core/ledger/file-tasks.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { isLedgerFile } from '../core/storage/place.ts';
import { newestBackup } from '../custody/daily-backup.ts';
import {
  type BackupPlace,
  type ChangedFile,
  type Finding,
  type LateBackup,
  mostNames,
  type NewestBackup,
  plainFinding,
} from './finding.ts';

/** How long lost files and changed archives are shown. */
const lostShownMs = 30 * 86_400_000;
const shownAtOnce = 10;
const lookedAt = 200;

/** Promised files that were lost, and archives that differ from what was read (P34). */
export async function lostFindings(db: Db | Trx, nowMs: number): Promise<Finding<'file_lost'>[]> {
  const since = new Date(nowMs - lostShownMs).toISOString();
  const lost = await lostFileTasks(db, since);
  const changed = await changedArchives(await recentArchives(db, since, lookedAt));
  const owners = [...lost, ...changed.map(({ task }) => task)].map(({ owner }) => owner);
  if (owners.length === 0) return [];
  const plain = plainFinding('file_lost', '', owners.length);
  return [{ ...plain, names: owners.slice(0, mostNames), facts: { lost, changed } }];
}

async function changedArchives(tasks: readonly FileTask[]): Promise<ChangedFile[]> {
  const changed: ChangedFile[] = [];
  for (const task of tasks) {
    const size = await stat(task.target).then(
      (found) => found.size,
      () => null,
    );
    // A file may be removed from the archive, but not changed there.
    if (size !== null && BigInt(size) !== task.bytes) changed.push({ task, size });
  }
  return changed.slice(0, shownAtOnce);
}

/** Whether a person must look at a file that cannot be checked: the next intake moves the others to the archive. */
export function isStuck({ kind }: FileWait): boolean {
  return kind !== 'not_archived';
}

const hourMs = 60 * 60_000;
/** A backup that is older than its pace and so many hours was missed: some copies take long. */
const graceHours = 12;

/** How the scheduled backups stand. `none`: there is none, and none is due yet. */
export type BackupStanding = LateBackup | (BackupPlace & ({ is: 'none' } | ({ is: 'kept' } & NewestBackup)));

/** Looks at the folder of the scheduled backups; null where `serve` makes none. */
export function backupStanding({
  ledger,
  config: { ledger: config },
  clock,
}: {
  ledger: Pick<Ledger, 'id' | 'birth' | 'place'>;
  config: Pick<Config, 'ledger'>;
  clock: Pick<Clock, 'now'>;
}): BackupStanding | null {
  const { backupDir, backupEvery } = config;
  if (!isLedgerFile(ledger.place) || backupDir === '') return null;
  const paceHours = hoursOf(backupEvery);
  const lateHours = paceHours + Math.min(graceHours, paceHours);
  const newest = newestBackup(ledger, backupDir);
  const place = { folder: backupDir, every: backupEvery };
  if (!newest)
    return {
      ...place,
      is: clock.now() - Date.parse(ledger.birth) <= lateHours * hourMs ? 'none' : 'missing',
    };
  const { name, at } = newest;
  const hours = (clock.now() - Date.parse(at)) / hourMs;
  return { ...place, is: hours < -1 ? 'ahead' : hours > lateHours ? 'late' : 'kept', name, hours };
}

/** `15m`, `1h` or `1d` in hours. */
function hoursOf(pace: Config['ledger']['backupEvery']): number {
  const many = Number.parseInt(pace, 10);
  if (pace.endsWith('m')) return many / 60;
  return pace.endsWith('h') ? many : many * 24;
}

/** The scheduled backup that was missed. */
export function backupFindings(standing: BackupStanding | null): Finding<'backup_late'>[] {
  if (standing === null || standing.is === 'none' || standing.is === 'kept') return [];
  return [{ ...plainFinding('backup_late'), facts: standing }];
}
