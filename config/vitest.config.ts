import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.base.ts';
import { hasPostgres, onPostgres } from './vitest.postgres.ts';

const ofTheProtocol = [
  'test/ledger/{record,history}.test.ts',
  'test/sending/{claims,limits,canaries,approvals}.test.ts',
  'test/evidence/withheld.test.ts',
  'test/custody/verify.test.ts',
  'test/webhooks/webhook-figures.test.ts',
  'test/listing/short-cuts.test.ts',
];

// The rest of them too: npm run prove:postgres.
const second = hasPostgres() ? [onPostgres({ include: ofTheProtocol })] : [];
if (second.length === 0)
  console.log('skipped: the ledger on PostgreSQL (there is no server; set POSTGRES_URL)');

export default mergeConfig(
  base,
  defineConfig({
    test: { projects: [{ extends: true, test: { name: 'all', include: ['test/**/*.test.ts'] } }, ...second] },
  }),
);
