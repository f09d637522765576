import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { folderOfThisRun } from '../test/support/memory-folder.ts';
import { LongestFirst } from './test-order.ts';
import { CountReporter } from './test-reporter.ts';

// Each commit of a test's ledger would wait for the disk. No test can see whether a disk kept what it was told to keep.
process.env.TMPDIR ??= folderOfThisRun();

// What a test puts into an inbox is refused where others may write it; a person's own umask must not decide that.
process.umask(0o022);

/** The project's folder, with a slash at its end. */
export const root = fileURLToPath(new URL('..', import.meta.url));
// Workers and their threads load compiled packages, as the program does.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/counterfoil');

/** What an app in the process of a test logs is part of what its command prints, and its waits can be shortened. */
const ownAppParts = {
  name: 'own-app-parts',
  enforce: 'pre' as const,
  resolveId(source: string, importer: string | undefined) {
    const [, part] = /^\.\.\/core\/runtime\/(logger|clock)\.ts$/.exec(source) ?? [];
    const app = importer?.startsWith(`${root}src/app/`);
    return part !== undefined && app ? `${root}test/support/${part}.ts` : null;
  },
};

/** What all runs of tests have in common. */
export default defineConfig({
  root,
  plugins: [ownAppParts],
  test: {
    reporters: [new CountReporter()],
    sequence: { sequencer: LongestFirst },
    // Much of the time is waiting for processes: two cores carry two workers, where the default is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests start real servers and real processes on machines with few cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
