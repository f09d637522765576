import { basename } from 'node:path';
import { visible } from '../core/domain/hidden.ts';
import type { FileTask } from '../core/ledger/file-tasks.ts';
import type { FileTaskKind } from '../core/storage/tables/file-tables.ts';
import type { BackupPlace, ChangedFile, LateBackup, NewestBackup } from '../findings/finding.ts';

const what: Record<FileTaskKind, string> = {
  archive: 'its file into the archive',
  errors: 'the problems of the rows left out of it',
  invalid: 'the rows left out of it',
};

/** A promised file that is still to be made or moved (P34). */
export function promisedText({ kind, owner, target }: FileTask): string {
  return `${owner}: ${what[kind]}: ${visible(target)} (counterfoil submit, or serve, brings it there)`;
}

/** A promised file that was lost. */
export function lostText({ kind, owner, source, target, outcome }: FileTask): string {
  if (kind === 'archive' && outcome === 'differs')
    return `${owner}: ${visible(source)} was changed after it was read, so that it is not in the archive`;
  return `${owner}: ${what[kind]}: neither ${visible(basename(source))} nor ${visible(target)} was there`;
}

/** An archived file that differs from what was read. */
export function changedText({ task: { owner, target, bytes }, size }: ChangedFile): string {
  const more = size - Number(bytes);
  const what =
    more > 0 ? `${more} bytes came after it was read, and are in no batch` : 'is shorter than what was read';
  return `${owner}: ${visible(target)}: ${what}`;
}

/** The newest backup, and how old it is. */
export function newestText({ name, hours, folder }: NewestBackup & Pick<BackupPlace, 'folder'>): string {
  const age =
    hours < 2
      ? `${Math.round(hours * 60)} minutes`
      : hours < 48
        ? `${Math.round(hours)} hours`
        : `${Math.round(hours / 24)} days`;
  return `the newest is ${age} old: ${name} in ${folder}`;
}

/** A scheduled backup that was missed. */
export function lateBackup(backup: LateBackup): { problem: string; fix: string } {
  const { folder, every } = backup;
  const fix = `see the job backup in counterfoil status; counterfoil serve makes one every ${every}, counterfoil backup FILE at once`;
  switch (backup.is) {
    case 'missing':
      return { problem: `none of this ledger in ${folder}`, fix };
    case 'late':
      return { problem: newestText(backup), fix };
    case 'ahead':
      return {
        problem: `the time of ${backup.name} in ${folder} is still to come: this machine's clock is wrong, or was then`,
        fix: 'set the clock; where it is right now, move that file elsewhere, so that the age of the others shows',
      };
  }
}
