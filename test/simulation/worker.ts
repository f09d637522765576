import { parentPort } from 'node:worker_threads';
import { type DayOptions, runDay } from './day.ts';

// One thread of a long run: a seed in, what became of it out.
parentPort?.on('message', ({ seed, options }: { seed: number; options: DayOptions }) => {
  runDay(seed, options).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw new Error(`seed ${seed} broke the simulation itself`, { cause: error });
    },
  );
});
