import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { tryReconcile } from '../../src/core/runtime/worker-lock.ts';

const fileIn = (dir: string): string => join(dir, 'data', 'ledger.db');

function withLedger<T>(dir: string, work: (db: Database.Database) => T): T {
  const db = new Database(fileIn(dir), { timeout: 5000 });
  try {
    return work(db);
  } finally {
    db.close();
  }
}

/** Moves what a job's row says into the past, so that a drill need not wait for it. */
export function ageJob(dir: string, job: string, hours: number): void {
  const at = new Date(Date.now() - hours * 3_600_000).toISOString();
  const change = 'update jobs set last_run_at = ?, last_success_at = ? where job = ?';
  withLedger(dir, (db) => db.prepare(change).run(at, at, job));
}

/** Moves the end of each attempt whose outcome is unknown into the past; returns how many there are. */
export function ageUnknowns(dir: string, minutes: number): number {
  const at = new Date(Date.now() - minutes * 60_000).toISOString();
  const change = "update attempts set ended_at = ? where outcome = 'unknown'";
  return withLedger(dir, (db) => db.prepare(change).run(at).changes);
}

/** The instant that a query of one ISO time finds, in wall-clock milliseconds; 0 where it finds none. */
export function newestIn(dir: string, query: string): number {
  const at = withLedger(dir, (db) => db.prepare(query).pluck().get());
  return typeof at === 'string' ? Date.parse(at) : 0;
}

/** Holds the lock of a reconciliation, as a process that hangs, until it is released; `serve` waits for it by now. */
export async function holdReconciliation(dir: string): Promise<() => Promise<void>> {
  for (;;) {
    const lock = await tryReconcile({ session: null, path: fileIn(dir) });
    if (lock) {
      while (!isRunning(dir, 'reconcile')) await sleep(500);
      return async () => lock.release();
    }
    await sleep(200);
  }
}

function isRunning(dir: string, job: string): boolean {
  const kind = 'select result_kind as kind from jobs where job = ?';
  return withLedger(dir, (db) => db.prepare(kind).pluck().get(job) === 'running');
}
