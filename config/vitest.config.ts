import { defineConfig, mergeConfig } from 'vitest/config';
import base, { root } from './vitest.base.ts';
import { hasPostgres, onPostgres } from './vitest.postgres.ts';

const ofTheProtocol = [
  'test/core/ledger/{record,history}.test.ts',
  'test/sending/{claims,limits,canaries,approvals}.test.ts',
  'test/watching/evidence/withheld.test.ts',
  'test/custody/{verify,older-releases}.test.ts',
  'test/watching/webhooks/webhook-figures.test.ts',
  'test/watching/listing/short-cuts.test.ts',
];

// The rest of them too: npm run prove:postgres.
const second = hasPostgres() ? [onPostgres({ include: ofTheProtocol })] : [];
if (second.length === 0)
  console.log('skipped: the ledger on PostgreSQL (there is no server; set POSTGRES_URL)');

/** What repeats, or needs many processes or another program (docs/contributing.md). */
const slow = 'test/**/*.slow.test.ts';

/** A thread that draws charts loads libraries for a third of a second; the pages of all tests can share one. */
const sharedCharts = {
  name: 'shared-charts',
  enforce: 'pre' as const,
  resolveId: (source: string, importer: string | undefined) =>
    source === './charts-thread.ts' && importer?.endsWith('/report/charts.ts')
      ? `${root}test/support/shared-charts.ts`
      : null,
};

/** `npm test` runs the project `quick`; `npm run test:all` runs every project. */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      projects: [
        {
          extends: true,
          plugins: [sharedCharts],
          // The files of a worker share its modules: loading them for each file would take half of the time.
          test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: [slow], isolate: false },
        },
        { extends: true, test: { name: 'slow', include: [slow] } },
        ...second,
      ],
    },
  }),
);
