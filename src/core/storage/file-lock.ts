import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isBusy } from './sqlite.ts';

/** A lock that the operating system frees when its process dies, in whatever way. */
export type FileLock = { release(): void };

// A lock belongs to the process. This keeps a database object from being collected, which would free its lock.
const held = new Set<Database.Database>();

/**
 * Takes the lock at `path`; null when another holder, here or in another process, has it (P3). The lock is an exclusive
 * SQLite transaction. A pid would lie: a zombie still answers `kill(pid, 0)`. Never open the file by other means:
 * closing any descriptor of it drops the lock of this process.
 */
export function holdLock(path: string): FileLock | null {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const database = openNamed(path);
  try {
    // By name, because a descriptor would be another way of opening the file.
    chmodSync(path, 0o600);
    database.exec('begin exclusive');
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return keepHeld(database);
}

/** The lock that this database has; its release closes the database. */
export function keepHeld(database: Database.Database): FileLock {
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

/** SQLite does not name the file it cannot open. Add it: the person who corrects its permissions needs the name. */
function openNamed(path: string, options: { readonly?: boolean } = {}): Database.Database {
  try {
    return new Database(path, { timeout: 0, ...options });
  } catch (error) {
    if (error instanceof Error) error.message += `: ${path}`;
    throw error;
  }
}

/**
 * True when nobody holds the lock. A missing file counts as free, which errs towards a look-up of the payout. Changes
 * nothing, so that it also works in a read-only folder.
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
