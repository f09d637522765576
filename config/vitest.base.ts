import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SimulationFirst } from './test-order.ts';
import { CountReporter } from './test-reporter.ts';

/** What all runs of tests have in common. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    reporters: [new CountReporter()],
    sequence: { sequencer: SimulationFirst },
    // Much of the time is waiting for processes: two cores carry two workers, where the default is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests start real servers and real processes on machines with few cores.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
