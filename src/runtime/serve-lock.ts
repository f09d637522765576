import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, isLockFree } from '../storage/file-lock.ts';
import { tryExclusive } from './worker-lock.ts';

/** More daemons on one data folder than anybody runs. */
const mostDaemons = 100;

/**
 * Takes the lock that says that a daemon runs on this data folder. Null when another has it; where the queue is shared,
 * `several` may run, each with a lock of its own.
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

function lockFiles(folder: string): string[] {
  try {
    // Not those of workers, whose names go on with letters and digits of their own.
    return readdirSync(folder).filter((name) => /^serve(-\d{1,3})?\.lock$/.test(name));
  } catch {
    return [];
  }
}
