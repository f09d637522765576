import { Worker } from 'node:worker_threads';
import { workerArguments } from '../support/share-charts.ts';
import { addCounts } from './coverage.ts';
import type { DayOptions, DayResult } from './day.ts';
import type { Tally } from './verdict.ts';

export type Summary = {
  seeds: number;
  seconds: number;
  tally: Tally;
  counts: Record<string, number>;
  failure: DayResult | undefined;
};

/** Runs seeds `from`, `from + 1`, … on so many threads until there are enough, time is up, or one fails. */
export async function runDays(options: {
  from: number;
  seeds: number;
  seconds: number;
  threads: number;
  dayOf: (seed: number) => DayOptions;
  onDay: (result: DayResult, sofar: Summary) => void;
}): Promise<Summary> {
  const { from, seeds, seconds, threads, dayOf, onDay } = options;
  const tally: Tally = { payouts: 0, posts: 0, paid: 0, operator: 0, hidden: 0, stopped: 0, turned: 0 };
  const summary: Summary = { seeds: 0, seconds: 0, tally, counts: {}, failure: undefined };
  const started = performance.now();
  let next = from;
  const isOver = (): boolean =>
    summary.failure !== undefined || next >= from + seeds || performance.now() - started > seconds * 1000;

  function take(result: DayResult): void {
    summary.seeds += 1;
    summary.seconds = (performance.now() - started) / 1000;
    addCounts(summary.counts, result.counts);
    addCounts(summary.tally, result.tally);
    // Of two that failed at once, the lower seed is shown, so that a run is repeatable.
    if (result.violation && (summary.failure?.seed ?? Number.POSITIVE_INFINITY) > result.seed)
      summary.failure = result;
    onDay(result, summary);
  }
  const thread = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), { execArgv: workerArguments });
      const go = (): void => {
        if (!isOver()) {
          worker.postMessage({ seed: next, options: dayOf(next) });
          next += 1;
          return;
        }
        worker.terminate().then(() => resolve(), reject);
      };
      worker.on('message', (result: DayResult) => {
        take(result);
        go();
      });
      worker.on('error', reject);
      go();
    });
  await Promise.all(Array.from({ length: Math.min(threads, seeds) }, thread));
  return summary;
}
