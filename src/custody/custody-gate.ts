import { chmodSync } from 'node:fs';
import Database from 'better-sqlite3';
import { type FileLock, keepHeld } from '../core/storage/file-lock.ts';
import type { Lock } from '../core/storage/locks.ts';
import { isLedgerFile, type Place, placeOf } from '../core/storage/place.ts';
import type { PostgresSession } from '../core/storage/postgres-session.ts';
import { isBusy } from '../core/storage/sqlite.ts';

/** Another process has the ledger, or needs it alone: exit code 11. */
class LedgerLocked extends Error {
  readonly code = 'LEDGER_LOCKED';
}

/**
 * Enters the ledger's gate as one of many. Every process that has the ledger open is inside, so that `restore` and
 * `migrate` know when they are alone. The operating system frees the place however a process dies. Throws LedgerLocked
 * while another process keeps the gate shut, after a short wait.
 */
export async function enterGate(ledgerPath: string): Promise<FileLock> {
  const gate = await take(ledgerPath, ['begin', 'select 1 from sqlite_master'], 2000);
  if (gate) return gate;
  throw shutOut();
}

function shutOut(): LedgerLocked {
  return new LedgerLocked(
    'another process restores or moves this ledger; wait for it, then run the command again',
  );
}

/** The same for a ledger on PostgreSQL: the session is inside for as long as it lasts. */
export async function enterShared(session: Pick<PostgresSession, 'hold'>): Promise<void> {
  if (!(await tryFor(2000, () => session.hold('gate', 'shared')))) throw shutOut();
}

/** Shuts the gate for all others until its release; null if another process is still inside after a short wait. */
export async function shutGate(ledger: string | Place): Promise<Lock | null> {
  const place = placeOf(ledger);
  if (isLedgerFile(place)) return take(place.path, ['begin exclusive'], 1000);
  const { openPostgresSession: openSession } = await import('../core/storage/postgres-session.ts');
  const session = await openSession(place.url);
  const lock = await tryFor(1000, () => session.hold('gate')).catch(async (error: unknown) => {
    await session.close();
    throw error;
  });
  if (!lock) await session.close();
  return lock && { release: () => session.close() };
}

async function tryFor<T>(waitMs: number, attempt: () => Promise<T | null>): Promise<T | null> {
  const until = performance.now() + waitMs;
  for (;;) {
    const got = await attempt();
    if (got !== null || performance.now() > until) return got;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function take(ledgerPath: string, statements: string[], waitMs: number): Promise<FileLock | null> {
  const path = `${ledgerPath}.gate`;
  const database = new Database(path, { timeout: 0 });
  try {
    chmodSync(path, 0o600);
    if (await tryFor(waitMs, async () => tryAll(database, statements) || null)) return keepHeld(database);
  } catch (error) {
    database.close();
    throw error;
  }
  database.close();
  return null;
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
