import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { CountReporter } from './test-reporter.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    include: ['test/**/*.test.ts'],
    reporters: [new CountReporter()],
    // Tests start real servers and real processes on machines with few cores.
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
