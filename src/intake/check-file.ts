import { basename, join, resolve } from 'node:path';
import type { SayAdvice } from '../core/domain/advice.ts';
import type { WaitingFile } from '../core/domain/waiting-file.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { holdLedgerLock } from '../core/storage/locks.ts';
import { type Checked, checkFile } from './checked.ts';
import { dropHalfExpected, type TakenCollections, takeExpectations } from './collection-files.ts';
import { belowInbox, collectionsFolder, type Ignored, inboxGate } from './inbox.ts';
import { clearHalfLoaded } from './load.ts';
import { isPlainFile } from './moves.ts';
import { removeHalfSheets } from './problem-sheets.ts';
import { finishPromised, type GivenBackRows, givenBack } from './promised-files.ts';
import { Interrupted, type RetryRows } from './retries.ts';
import { type Paths, type TakenFile, type TakeOptions, takeFile } from './take.ts';

export type { Checked } from './checked.ts';
export type { Ignored } from './inbox.ts';
export type { Paths, TakenFile as Taken, TakeOptions } from './take.ts';

export type Intake = {
  /** Validates a file; records, moves and sends nothing. */
  check(file: string): Promise<Checked>;
  /** Takes one file in, or refuses it whole and names every problem. Throws Interrupted. */
  takeIn(file: string, options: TakeOptions): Promise<TakenFile>;
  /**
   * Takes in every whole file of the inbox, until `signal` is aborted. `waiting` files may still be being
   * written; `ignored` files stay there for another reason. `figures` belong to the only file: if the inbox
   * holds none or several, nothing is taken and all wait.
   */
  takeInbox(options?: {
    dryRun?: boolean;
    figures?: Pick<TakeOptions, 'rows' | 'totals'>;
    signal?: AbortSignal;
  }): Promise<{ taken: TakenFile[]; waiting: WaitingFile[]; ignored: Ignored[] }>;
  /** Takes in every whole file of expected collections, until `signal` is aborted. */
  takeCollections(options?: {
    signal?: AbortSignal;
  }): Promise<{ taken: TakenCollections[]; waiting: WaitingFile[]; ignored: Ignored[] }>;
  /** Moves the files whose move a crash interrupted (P34). Returns how many. */
  finishFiles(): Promise<number>;
  /** Returns the rows that a crash had left unreturned and that this process gave back since the last call. */
  givenBack(): GivenBackRows[];
  /**
   * Clears batches that a crash left half loaded (P23). Returns how many; 0 while another process takes files
   * in.
   */
  removeHalfLoaded(): Promise<number>;
};

/**
 * Turns files into batches: payouts enter the ledger nowhere else. Throws on I/O errors of disk and ledger
 * (P12).
 */
export function createIntake(deps: {
  ledger: Ledger;
  config: Config;
  clock: Clock;
  paths: Paths;
  retries: RetryRows;
  say: SayAdvice;
}): Intake {
  const { ledger, config, clock, retries, say } = deps;
  const paths: Paths = {
    inbox: resolve(deps.paths.inbox),
    archive: resolve(deps.paths.archive),
    rejected: resolve(deps.paths.rejected),
    reports: resolve(deps.paths.reports),
  };
  const inner = { ledger, config, clock, paths, retries, say };
  const gate = inboxGate({ inbox: paths.inbox, clock, settleMs: config.intake.settleSeconds * 1000 });
  const collections = join(paths.inbox, collectionsFolder);
  const collectionsGate = inboxGate({
    inbox: collections,
    clock,
    settleMs: config.intake.settleSeconds * 1000,
  });
  const takeLock = () => holdLedgerLock(ledger, 'intake', `${ledger.path}.intake-lock`);
  let back: GivenBackRows[] = [];

  async function finish(): Promise<number> {
    const done = await finishPromised({ ...inner, inbox: paths.inbox });
    back.push(...givenBack(done));
    await removeHalfSheets(paths.rejected);
    return done.length;
  }

  /**
   * Runs `work` under the intake lock, which one process holds at a time. What is half loaded then was left
   * by a crash. Throws Interrupted when a stop arrives while another process has the lock.
   */
  async function alone<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    let lock = await takeLock();
    while (!lock) {
      if (signal?.aborted) throw new Interrupted();
      await new Promise((resume) => setTimeout(resume, 20));
      lock = await takeLock();
    }
    try {
      await clearHalfLoaded(inner);
      await dropHalfExpected(inner);
      await finish();
      return await work();
    } finally {
      await lock.release();
    }
  }

  return {
    check: (file) => checkFile(inner, resolve(file)),
    takeIn: (file, options) => alone(() => takeFile(inner, resolve(file), options), options.signal),
    async takeInbox({ figures, ...options } = {}) {
      const { ready, waiting, ignored } = await gate();
      const taken: TakenFile[] = [];
      if (figures && ready.length + waiting.length !== 1)
        return { taken, waiting: [...ready.map(untaken), ...waiting], ignored };
      for (const name of ready) {
        if (options.signal?.aborted) break;
        const file = resolve(paths.inbox, basename(name));
        // Another process may have taken it while we waited for the lock.
        const one = await alone(
          async () =>
            (await isPlainFile(file))
              ? takeFile(inner, file, { origin: 'inbox', ...options, ...figures })
              : null,
          options.signal,
        ).catch(unlessInterrupted);
        if (one) taken.push(one);
      }
      return { taken, waiting, ignored };
    },
    async takeCollections({ signal } = {}) {
      const { ready, waiting, ignored } = await collectionsGate();
      const taken: TakenCollections[] = [];
      for (const name of ready) {
        if (signal?.aborted) break;
        const file = join(collections, basename(name));
        const one = await alone(
          async () => ((await isPlainFile(file)) ? takeExpectations(inner, file) : null),
          signal,
        ).catch(unlessInterrupted);
        if (one) taken.push(one);
      }
      return { taken, waiting, ignored: ignored.map(belowInbox) };
    },
    async finishFiles() {
      const lock = await takeLock();
      if (!lock) return 0;
      try {
        return await finish();
      } finally {
        await lock.release();
      }
    },
    givenBack() {
      const since = back;
      back = [];
      return since;
    },
    async removeHalfLoaded() {
      const lock = await takeLock();
      if (!lock) return 0;
      try {
        return await clearHalfLoaded(inner);
      } finally {
        await lock.release();
      }
    },
  };
}

/** A whole file that stays in the inbox. */
function untaken(name: string): WaitingFile {
  return { name, why: { kind: 'settling' } };
}

/** An interrupted process leaves the file in the inbox, where the next intake finds it. */
function unlessInterrupted(error: unknown): null {
  if (error instanceof Interrupted) return null;
  throw error;
}
