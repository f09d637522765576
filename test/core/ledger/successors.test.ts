import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { followersOf } from '../../../src/core/ledger/successors.ts';
import { makeLedger } from '../../support/ledger.ts';
import { onPostgres } from '../../support/on-postgres/standing.ts';

// PostgreSQL words its plans in another way, and keeps figures of its own about the table.
it.skipIf(onPostgres)('finds what follows a payout without reading all payouts', async () => {
  const { db } = await makeLedger();
  const { rows } = await sql<{ detail: string }>`explain query plan ${followersOf([1n])}`.execute(db);
  const reads = rows
    .map(({ detail }) => detail)
    .filter((text) => /^(?:SCAN|SEARCH) (?:payouts|[ps])\b/.test(text));
  expect(reads).toHaveLength(4);
  for (const read of reads) expect(read).toMatch(/\((?:rowid|successor_of|state=\? AND id)=\?/);
});
