import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { Advice } from '../core/domain/advice.ts';
import { syncFolder } from '../core/storage/sync-folder.ts';

/**
 * How far a ledger had come when its mark was last written: the id of its newest history entry (0: none) and that
 * entry's hash. It is kept outside the ledger, in a small file beside it (P25).
 */
export type Mark = { ledger: string; history: bigint; hash: string };

export type StoredMark = { kind: 'mark'; mark: Mark } | { kind: 'absent' } | { kind: 'unreadable' };

const markPath = (ledgerPath: string): string => `${ledgerPath}.mark`;

/** Reads the mark beside the ledger file. Throws disk errors. */
export function readMark(ledgerPath: string): StoredMark {
  let text: string;
  try {
    text = readFileSync(markPath(ledgerPath), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'absent' };
    throw error;
  }
  const [, ledger, history, hash] = /^(\S{1,64}) (\d{1,18}) ([0-9a-f]*)\n$/.exec(text) ?? [];
  if (!ledger || !history || hash === undefined) return { kind: 'unreadable' };
  return { kind: 'mark', mark: { ledger, history: BigInt(history), hash } };
}

/** The ledger name in the mark of a place that its ledger has left permanently (P26); no ledger has this name. */
export const movedAway = 'moved';

/** Why no copy may be used where a ledger was moved from (P26); null where none was. Throws disk errors. */
export function whyMoved(
  ledgerPath: string,
): { why: string; advice: Extract<Advice, { kind: 'follow_move' }> } | null {
  const found = readMark(ledgerPath);
  if (found.kind !== 'mark' || found.mark.ledger !== movedAway) return null;
  const why = `the ledger of ${ledgerPath} was moved permanently to another place`;
  return { why, advice: { kind: 'follow_move', mark: markPath(ledgerPath) } };
}

/** Replaces the mark durably. One at a time: the caller holds the ledger's write lock. Throws disk errors. */
export function writeMark(ledgerPath: string, mark: Mark): void {
  const path = markPath(ledgerPath);
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(file, `${mark.ledger} ${mark.history} ${mark.hash}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncFolder(path);
}

/** Removes the mark durably: from then on the ledger is not compared with it. */
export function removeMark(ledgerPath: string): void {
  rmSync(markPath(ledgerPath), { force: true });
  syncFolder(ledgerPath);
}

/** Gives a complete file its name; false if another file has that name, which is never replaced. */
export function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'EEXIST') return false;
    // Some file systems (FAT, some network shares) do not support links.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    if (existsSync(to)) return false;
    renameSync(from, to);
    return true;
  }
}
