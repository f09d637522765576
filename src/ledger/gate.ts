import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import type { FileLock } from './file-lock.ts';
import { isBusy } from './sqlite.ts';

/** Somebody else has the ledger, or wants it alone: exit code 11. */
class LedgerLocked extends Error {
  readonly code = 'LEDGER_LOCKED';
}

// As in file-lock.ts: a lock that nobody refers to must not be collected, and so freed.
const held = new Set<Database.Database>();

/**
 * Enters the ledger's gate as one of many: whoever has the ledger open stands in it, so that `restore` and `migrate`
 * know when they are alone. The operating system frees it however a process dies. Throws LedgerLocked while somebody
 * has shut the gate, after a moment's wait.
 */
export async function enterGate(ledgerPath: string): Promise<FileLock> {
  const gate = await take(ledgerPath, ['begin', 'select 1 from sqlite_master'], 2000);
  if (gate) return gate;
  throw new LedgerLocked(
    'another process restores or moves this ledger; wait for it, then run the command again',
  );
}

/** Shuts the gate for everybody else; null when, after a moment for commands that are ending, someone is inside. */
export function shutGate(ledgerPath: string): Promise<FileLock | null> {
  return take(ledgerPath, ['begin exclusive'], 1000);
}

async function take(ledgerPath: string, statements: string[], waitMs: number): Promise<FileLock | null> {
  const path = `${ledgerPath}.gate`;
  const database = new Database(path, { timeout: 0 });
  const until = performance.now() + waitMs;
  try {
    chmodSync(path, 0o600);
    for (;;) {
      if (tryAll(database, statements)) break;
      if (performance.now() > until) {
        database.close();
        return null;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } catch (error) {
    database.close();
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

function tryAll(database: Database.Database, statements: string[]): boolean {
  try {
    for (const statement of statements) {
      if (statement.startsWith('select')) database.prepare(statement).all();
      else database.exec(statement);
    }
    return true;
  } catch (error) {
    if (database.inTransaction) database.exec('rollback');
    if (isBusy(error)) return false;
    throw error;
  }
}
