import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';
import { hasPostgres, onPostgres } from './vitest.postgres.ts';

const ofTheProtocol =
  'test/ledger/{record,claims,history,daily-limit,canary,approval,withheld,verify,webhook-figures,short-cuts}.test.ts';

// The rest of them too: npm run prove:postgres.
const second = hasPostgres() ? [onPostgres({ include: [ofTheProtocol] })] : [];
if (second.length === 0)
  console.log('skipped: the ledger on PostgreSQL (there is no server; set POSTGRES_URL)');

export default mergeConfig(
  base,
  defineConfig({
    test: { projects: [{ extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } }, ...second] },
  }),
);
