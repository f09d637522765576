import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isBusy } from './sqlite.ts';

/** A lock that the operating system frees when its process dies, however it dies. */
export type FileLock = { release(): void };

// A lock belongs to the process: a holder that nobody refers to any more must not be collected, and so freed.
const held = new Set<Database.Database>();

/**
 * Takes the lock at `path`, or answers null when another holder (here or in another process) has it (P3). The lock is
 * an exclusive SQLite transaction: a pid would lie, since a zombie still answers `kill(pid, 0)`. Never open the file
 * by other means: closing any descriptor of it would drop the lock of this process.
 */
export function holdLock(path: string): FileLock | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = openNamed(path);
  try {
    // By its name: a descriptor of it would be another means.
    chmodSync(path, 0o600);
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

/** SQLite says that it cannot open a file, but not which; who must give it to the right account has to know. */
function openNamed(path: string, options: { readonly?: boolean } = {}): Database.Database {
  try {
    return new Database(path, { timeout: 0, ...options });
  } catch (error) {
    if (error instanceof Error) error.message += `: ${path}`;
    throw error;
  }
}

/**
 * True when nobody holds the lock; a file that is gone counts as free, which errs towards asking about a payout. Changes
 * nothing, so that it can be asked in a folder that cannot be written.
 */
export function isLockFree(path: string): boolean {
  if (!existsSync(path)) return true;
  const database = openNamed(path, { readonly: true });
  try {
    database.prepare('select 1 from sqlite_master').get();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  } finally {
    database.close();
  }
}
