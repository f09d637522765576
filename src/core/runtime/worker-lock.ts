import { realpathSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type FileLock, holdLock, isLockFree } from '../storage/file-lock.ts';
import type { Ledger } from '../storage/ledger.ts';
import { holdLedgerLock, type Lock } from '../storage/locks.ts';
import type { Clock } from './clock.ts';
import { addWorker, endWorker, lifeOf, openWorkers, type WorkerRow } from './workers.sql.ts';

export type Workers = {
  /** This process's worker id, which its attempts bear. */
  id: string;
  /** Takes this process's lock, then registers it. Throws when the id is in use. */
  start(kind: string): Promise<void>;
  /** Ids of workers that did not record their end and whose lock is free: their claims become `unknown` (P3). */
  dead(): Promise<string[]>;
  /** Call after a dead worker's claims are settled, so that it is not checked again. */
  markEnded(id: string): Promise<void>;
  /** Records that this process ends without claims, and frees its lock. */
  end(): Promise<void>;
};

/**
 * Worker identity and liveness of one process. For a ledger in a file, the locks are files in `locks` beside it:
 * processes with different data folders find them. On PostgreSQL they are locks of the process's session, which every
 * machine sees.
 */
export function createWorkers(deps: { ledger: Ledger; clock: Clock; id: string }): Workers {
  const { ledger, clock, id } = deps;
  let lock: Lock | null = null;
  const { session } = ledger;
  const { pathOf, isFree } = locksOf(ledger);

  const markEnded = async (ended: string): Promise<void> => {
    await ledger.write((trx) => endWorker(trx, ended, clock.iso()));
    if (!session) rmSync(pathOf(`${ended}.lock`), { force: true });
  };
  return {
    id,
    async start(kind) {
      lock = await holdLedgerLock(ledger, lifeOf(id), pathOf(`${id}.lock`));
      if (!lock) throw new Error(`worker ${id} is already running`);
      const self = { id, kind, host: hostname(), pid: process.pid, lockFile: `${id}.lock` };
      await ledger.write((trx) => addWorker(trx, { ...self, startedAt: clock.iso() }));
    },
    async dead() {
      const others = (await openWorkers(ledger.db)).filter((worker) => worker.id !== id);
      const dead: string[] = [];
      for (const worker of others) if (await isFree(worker)) dead.push(worker.id);
      return dead;
    },
    markEnded,
    async end() {
      if (!lock) return;
      await markEnded(id);
      await lock.release();
      lock = null;
    },
  };
}

/** Where the locks of a ledger's workers are, and whether one of them is free. */
function locksOf({ session, path }: Pick<Ledger, 'session' | 'path'>) {
  // A link to the file must not hide its workers.
  const folder = join(dirname(session ? path : realpathSync(path)), 'locks');
  // Only the file name is stored: if the folder moves, living workers must not look dead.
  const pathOf = (lockFile: string): string => join(folder, basename(lockFile));
  const isFree = async (worker: WorkerRow): Promise<boolean> =>
    session ? session.isFree(lifeOf(worker.id)) : isLockFree(pathOf(worker.lockFile));
  return { pathOf, isFree };
}

/** Whether the process of this worker id works on the ledger and lives. */
export async function workerLives(ledger: Ledger, id: string): Promise<boolean> {
  const { isFree } = locksOf(ledger);
  const worker = (await openWorkers(ledger.db)).find((one) => one.id === id);
  return worker !== undefined && !(await isFree(worker));
}

/** Whether any process that works on the ledger lives. */
export async function anyWorkerLives(ledger: Ledger): Promise<boolean> {
  const { isFree } = locksOf(ledger);
  for (const worker of await openWorkers(ledger.db)) if (!(await isFree(worker))) return true;
  return false;
}

/** Takes the reconcile lock of a ledger, over all its machines; null when another process has it: exit code 11. */
export function tryReconcile(ledger: Pick<Ledger, 'session' | 'path'>): Promise<Lock | null> {
  return holdLedgerLock(ledger, 'reconcile', reconcileLockOf(ledger.path));
}

/** Beside the ledger and named after it: the folder may hold another ledger, and another data folder may use this one. */
export function reconcileLockOf(ledgerPath: string): string {
  return `${ledgerPath}.reconcile-lock`;
}

/** Takes the named lock of a data folder (`serve`); null when another process has it: exit code 11. */
export function tryExclusive(dataDir: string, name: string): FileLock | null {
  return holdLock(join(dataDir, 'locks', `${name}.lock`));
}
