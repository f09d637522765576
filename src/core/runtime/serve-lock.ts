import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, isLockFree } from '../storage/file-lock.ts';
import { tryExclusive } from './worker-lock.ts';

/** More daemons than anyone runs on one data folder. */
const mostDaemons = 100;

/**
 * Takes the lock that marks a daemon on this data folder; null when another process has it. With a shared queue,
 * `several` daemons may run, each with its own lock.
 */
export function takeServeLock(dataDir: string, several: boolean): FileLock | null {
  for (let n = 1; n <= (several ? mostDaemons : 1); n++) {
    const lock = tryExclusive(dataDir, n === 1 ? 'serve' : `serve-${n}`);
    if (lock) return lock;
  }
  return null;
}

/** Whether any daemon runs on this data folder. */
export function isServing(dataDir: string): boolean {
  const folder = join(dataDir, 'locks');
  return lockFiles(folder).some((name) => !isLockFree(join(folder, name)));
}

/** The same; null when this account cannot see it. */
export function findServing(dataDir: string): boolean | null {
  try {
    return isServing(dataDir);
  } catch {
    return null;
  }
}

function lockFiles(folder: string): string[] {
  try {
    // Skips the locks of workers, whose names continue with letters and digits.
    return readdirSync(folder).filter((name) => /^serve(-\d{1,3})?\.lock$/.test(name));
  } catch {
    return [];
  }
}
