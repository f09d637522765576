import { appendFileSync, readFileSync } from 'node:fs';
import { type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest';

/** What one worker is to do. A mutant is its number. */
export type Job = {
  /** The changed files, each with the number of its first mutant. */
  files: Record<string, number>;
  left: number[];
  /** The one that is active from the first import on; the tests then run once, as usual. */
  active: number | null;
  /** How long a test may run in all; it leaves out the mutants that it has no time for. */
  mostMs: number;
  /** The file that the steps are added to. */
  steps: string;
};

export type Step =
  | { kind: 'test'; test: string }
  | { kind: 'trying' | 'killed'; id: number }
  | { kind: 'unrepeatable' | 'long'; test: string }
  | { kind: 'done'; file: string; touched: number[]; loaded: number[] };

const job: Job = JSON.parse(readFileSync(process.env.MUTANTS_JOB ?? '', 'utf8'));
const note = (step: Step): void => appendFileSync(job.steps, `${JSON.stringify(step)}\n`);

const left = new Set(job.left);
/** How often each was tried: those that were tried least come first. */
const tries = new Map<number, number>();
let hit = new Set<number>();
let active = job.active;
Object.assign(globalThis, {
  __mutant: (id: number) => {
    hit.add(id);
    return id === active;
  },
});

/**
 * Runs each test twice as it is, then once for each living mutant that it touched, and as it is after each failure. A
 * mutant that leaves a failing test behind ends the worker, and the next one goes on.
 */
export default class MutantRunner extends TestRunner {
  #queue: number[] = [];
  #turn: 'plain' | 'again' | 'mutant' | 'check' = 'plain';
  #began = 0;
  #touched = new Set<number>();
  #loaded = new Set<number>();

  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onBeforeRunSuite(suite);
    if (!('filepath' in suite)) return;
    this.#loaded = hit;
    hit = new Set();
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test);
    if (job.active !== null) return;
    this.#turn = 'plain';
    this.#queue = [];
    const more = (): boolean => this.#turn !== 'mutant' || this.#queue.length > 0;
    // Vitest compares the number before each turn.
    test.repeats = { valueOf: () => (more() ? Infinity : -1) } as unknown as number;
  }

  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    if (job.active !== null) return;
    if (test.result?.attempts) test.result.attempts.length = 0;
    active = this.#turn === 'mutant' ? (this.#queue[0] ?? null) : null;
    if (active !== null) {
      note({ kind: 'trying', id: active });
      tries.set(active, (tries.get(active) ?? 0) + 1);
    }
    if (this.#turn === 'plain') note({ kind: 'test', test: test.name });
    this.#began = performance.now();
  }

  override async onAfterRetryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): Promise<void> {
    await super.onAfterRetryTask(test, options);
    if (job.active !== null || test.result === undefined) return;
    active = null;
    const failed = test.result.state === 'fail';
    test.result.state = 'pass';
    delete test.result.errors;
    switch (this.#turn) {
      case 'plain':
        this.#turn = 'mutant';
        for (const id of hit) this.#touched.add(id);
        this.#queue = failed ? [] : [...hit].filter((id) => left.has(id));
        hit = new Set();
        this.#shorten(test, performance.now() - this.#began);
        if (this.#queue.length > 0) this.#turn = 'again';
        return;
      case 'again':
        if (failed) {
          note({ kind: 'unrepeatable', test: test.name });
          this.#queue = [];
        }
        this.#turn = 'mutant';
        return;
      case 'mutant':
        if (failed) this.#turn = 'check';
        else this.#queue.shift();
        return;
      case 'check': {
        const id = this.#queue.shift() ?? -1;
        left.delete(id);
        note({ kind: 'killed', id });
        if (failed) process.kill(process.pid, 'SIGKILL');
        this.#turn = 'mutant';
      }
    }
  }

  /** Leaves as many mutants as a test has time for. */
  #shorten(test: RunnerTestCase, tookMs: number): void {
    const most = Math.floor(job.mostMs / tookMs);
    if (this.#queue.length <= most) return;
    note({ kind: 'long', test: test.name });
    const triesOf = (id: number): number => tries.get(id) ?? 0;
    this.#queue = this.#queue.toSorted((a, b) => triesOf(a) - triesOf(b)).slice(0, most);
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    for (const { filepath } of files)
      note({
        kind: 'done',
        file: filepath,
        touched: [...this.#touched, ...hit],
        loaded: [...this.#loaded],
      });
    this.#touched = new Set();
    hit = new Set();
  }
}
