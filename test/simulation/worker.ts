import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { type DayOptions, runDay } from './day.ts';

// Each thread of a run loads the same modules.
enableCompileCache(
  fileURLToPath(new URL('../../node_modules/.cache/counterfoil-simulation', import.meta.url)),
);
// One thread of a long run: a seed in, what became of it out.
parentPort?.on('message', ({ seed, options }: { seed: number; options: DayOptions }) => {
  runDay(seed, options).then(
    (result) => parentPort?.postMessage(result),
    (error: unknown) => {
      throw new Error(`seed ${seed} broke the simulation itself`, { cause: error });
    },
  );
});
