import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { ActionNeeded } from '../core/domain/advice.ts';
import { syncFolder } from '../core/storage/sync-folder.ts';

/** The files that belong to a ledger beside its main file. */
const companions = ['-wal', '-shm', '.mark'];

const incomingPath = (path: string): string => `${path}.incoming`;
const journalPath = (path: string): string => `${path}.restoring`;

class HalfSwapped extends ActionNeeded {
  readonly code = 'LEDGER_RESTORING';
}

/** Throws while a swap is unfinished: the file may lack its write-ahead log. */
export function assertNotHalfSwapped(path: string): void {
  if (!existsSync(journalPath(path))) return;
  throw new HalfSwapped('a restore of this ledger was interrupted', { kind: 'finish_restore' });
}

export function isHalfSwapped(path: string): boolean {
  return existsSync(journalPath(path));
}

/** Copies a ledger file, and its write-ahead log if there is one, beside `path`; returns the copy's path. */
export function copyBeside(source: string, path: string): string {
  const incoming = incomingPath(path);
  for (const suffix of ['', ...companions]) rmSync(incoming + suffix, { force: true });
  for (const suffix of ['', '-wal']) {
    if (suffix !== '' && !existsSync(source + suffix)) continue;
    copyFileSync(source + suffix, incoming + suffix, constants.COPYFILE_FICLONE);
    chmodSync(incoming + suffix, 0o600);
  }
  return incoming;
}

export function dropCopy(path: string): void {
  for (const suffix of ['', ...companions]) rmSync(incomingPath(path) + suffix, { force: true });
}

/**
 * Puts the copy made by `copyBeside` in the ledger's place; the gate must be shut. `stamp` names the files that move
 * aside. A journal comes first: if a process dies between two renames, `finishSwap` can finish.
 */
export function swapIn(path: string, stamp: string): string {
  syncFile(incomingPath(path));
  writeFileSync(`${journalPath(path)}.new`, stamp, { mode: 0o600 });
  syncFile(`${journalPath(path)}.new`);
  renameSync(`${journalPath(path)}.new`, journalPath(path));
  syncFolder(path);
  return finishSwap(path);
}

/** Continues an interrupted swap up to its last step; any step may be done already. Returns the path of the old ledger. */
export function finishSwap(path: string): string {
  const stamp = readFileSync(journalPath(path), 'utf8');
  const aside = `${path}.before-restore-${stamp}`;
  const incoming = incomingPath(path);
  // Once the copy is in place, the file of this name is the new ledger and stays.
  if (existsSync(incoming)) {
    for (const suffix of [...companions, '']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
    }
    syncFolder(path);
    renameSync(incoming, path);
    syncFolder(path);
  }
  return aside;
}

/** Ends the swap: the ledger may be opened again, since the replaced one can no longer send. */
export function endSwap(path: string): void {
  rmSync(journalPath(path));
  syncFolder(path);
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a copy of a ledger with all that stands beside it. */
export function removeFile(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal', '.gate']) rmSync(path + suffix, { force: true });
}
