import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';
import { onPostgres } from './vitest.postgres.ts';

/** What only a file can show: its log, its copies, files of earlier versions, and queries as processor time of this process. */
const ofFiles = [
  'test/custody/{backup,mark,move,half-loaded,side-by-side}.test.ts',
  'test/custody/{postgres,postgres-commits,move-postgres}.slow.test.ts',
  'test/scenarios/{archive,ledger-io,ledger-life,errors}.test.ts',
  'test/scenarios/{ledger-io,shared-queue}.slow.test.ts',
  'test/core/storage/health.test.ts',
  'test/faces/web/dashboard/large-ledger.slow.test.ts',
];

/** `npm run prove:postgres`: every test that uses a ledger, with the ledger on PostgreSQL. */
export default mergeConfig(
  base,
  defineConfig({
    test: {
      projects: [
        onPostgres({
          include: [
            'test/{books,custody,daemon,findings,intake,jobs,scenarios,sending,verbs,watching,words}/**/*.test.ts',
            'test/core/{ledger,storage}/**/*.test.ts',
            'test/faces/{admin,alerts,files,web}/**/*.test.ts',
          ],
          exclude: ofFiles,
        }),
      ],
    },
  }),
);
