import { basename, join, resolve } from 'node:path';
import type { SayAdvice } from '../core/domain/advice.ts';
import type { WaitingFile } from '../core/domain/waiting-file.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { holdLedgerLock } from '../core/storage/locks.ts';
import { type Checked, checkFile } from './check.ts';
import { dropHalfExpected, type TakenCollections, takeExpectations } from './collection-files.ts';
import { belowInbox, collectionsFolder, type Ignored, inboxGate } from './inbox.ts';
import { clearHalfLoaded } from './load.ts';
import { isPlainFile } from './moves.ts';
import { removeHalfSheets } from './problem-sheets.ts';
import { finishPromised, type GivenBackRows, givenBack } from './promised-files.ts';
import { Interrupted, type RetryRows } from './retries.ts';
import type { RulesOf } from './scan.ts';
import { type Paths, type TakenFile, type TakeOptions, takeFile } from './take.ts';

/** `givenBack`: rows that a crash had left unreturned, which this call brought to their place first (P34). */
export type Took<T> = { taken: T[]; givenBack: GivenBackRows[] };
/** `waiting` files may still be being written; `ignored` files stay in the folder for another reason. */
type Swept<T> = Took<T> & { waiting: WaitingFile[]; ignored: Ignored[] };

/**
 * All that takes files in first finishes what a crash interrupted: it clears half-loaded batches (P23) and moves
 * promised files (P34). Only while no other process takes files in.
 */
export type Intake = {
  /** Validates a file; records, moves and sends nothing. */
  check(file: string): Promise<Checked>;
  /** Takes each file in, or refuses it whole and names every problem. Throws Interrupted. */
  takeFiles(files: readonly string[], options: TakeOptions): Promise<Took<TakenFile>>;
  /**
   * Takes in every whole file of the inbox, until `signal` is aborted. `figures` belong to the only file: if the
   * inbox holds none or several, nothing is taken and all wait.
   */
  takeInbox(options?: {
    dryRun?: boolean;
    figures?: Pick<TakeOptions, 'rows' | 'totals'>;
    payOn?: string;
    signal?: AbortSignal;
  }): Promise<Swept<TakenFile>>;
  /** Takes in every whole file of expected collections, until `signal` is aborted. */
  takeCollections(options?: { signal?: AbortSignal }): Promise<Swept<TakenCollections>>;
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
  serviceNow?: RulesOf['serviceNow'];
}): Intake {
  const { ledger, config, clock, retries, say } = deps;
  const paths: Paths = {
    inbox: resolve(deps.paths.inbox),
    archive: resolve(deps.paths.archive),
    rejected: resolve(deps.paths.rejected),
    reports: resolve(deps.paths.reports),
  };
  const inner = { ledger, config, clock, paths, retries, say, serviceNow: deps.serviceNow };
  const settleMs = config.intake.settleSeconds * 1000;
  const gate = inboxGate({ inbox: paths.inbox, clock, settleMs });
  const collections = join(paths.inbox, collectionsFolder);
  const collectionsGate = inboxGate({ inbox: collections, clock, settleMs });
  const takeLock = () => holdLedgerLock(ledger, 'intake', `${ledger.path}.intake-lock`);

  /** Only under the intake lock, which one process holds at a time: what is half loaded was left by a crash. */
  async function recover(): Promise<GivenBackRows[]> {
    await clearHalfLoaded(inner);
    await dropHalfExpected(inner);
    const moved = await finishPromised({ ...inner, inbox: paths.inbox });
    await removeHalfSheets(paths.rejected);
    return givenBack(moved);
  }

  async function recoverUnlessBusy(): Promise<GivenBackRows[]> {
    const lock = await takeLock();
    if (!lock) return [];
    try {
      return await recover();
    } finally {
      await lock.release();
    }
  }

  /**
   * Runs `take` under the intake lock, after recovery. Adds what there is to `took`. Throws Interrupted when a stop
   * arrives while another process has the lock.
   */
  async function alone<T>(took: Took<T>, take: () => Promise<T | null>, signal?: AbortSignal): Promise<void> {
    let lock = await takeLock();
    while (!lock) {
      if (signal?.aborted) throw new Interrupted();
      await new Promise((resume) => setTimeout(resume, 20));
      lock = await takeLock();
    }
    try {
      took.givenBack.push(...(await recover()));
      const one = await take();
      if (one) took.taken.push(one);
    } finally {
      await lock.release();
    }
  }

  /** Takes the files that are ready. Another process may have taken one while we waited for the lock. */
  async function takeReady<T>(
    took: Took<T>,
    { folder, ready }: { folder: string; ready: readonly string[] },
    take: (file: string) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (const name of ready) {
      if (signal?.aborted) break;
      const file = join(folder, basename(name));
      const takeOne = async () => ((await isPlainFile(file)) ? take(file) : null);
      await alone(took, takeOne, signal).catch(unlessInterrupted);
    }
  }

  return {
    check: (file) => checkFile(inner, resolve(file)),
    async takeFiles(files, options) {
      const took: Took<TakenFile> = { taken: [], givenBack: options.dryRun ? [] : await recoverUnlessBusy() };
      for (const file of files)
        await alone(took, () => takeFile(inner, resolve(file), options), options.signal);
      return took;
    },
    async takeInbox({ figures, ...options } = {}) {
      const took: Took<TakenFile> = { taken: [], givenBack: options.dryRun ? [] : await recoverUnlessBusy() };
      const { ready, waiting, ignored } = await gate();
      if (figures && ready.length + waiting.length !== 1)
        return { ...took, waiting: [...ready.map(untaken), ...waiting], ignored };
      const take = (file: string) => takeFile(inner, file, { origin: 'inbox', ...options, ...figures });
      await takeReady(took, { folder: paths.inbox, ready }, take, options.signal);
      return { ...took, waiting, ignored };
    },
    async takeCollections({ signal } = {}) {
      const took: Took<TakenCollections> = { taken: [], givenBack: await recoverUnlessBusy() };
      const { ready, waiting, ignored } = await collectionsGate();
      const take = (file: string) => takeExpectations(inner, file);
      await takeReady(took, { folder: collections, ready }, take, signal);
      return { ...took, waiting, ignored: ignored.map(belowInbox) };
    },
  };
}

/** A whole file that stays in the inbox. */
function untaken(name: string): WaitingFile {
  return { name, why: { kind: 'settling' } };
}

/** An interrupted process leaves the file in the inbox, where the next intake finds it. */
function unlessInterrupted(error: unknown): void {
  if (!(error instanceof Interrupted)) throw error;
}
