import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { isPaidIn, paidPage } from '../../src/books/month-facts.sql.ts';
import { makeLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const open = {
  after: 0n,
  through: null,
  startsAt: '2026-11-01T00:00:00.000Z',
  endsAt: '2026-12-01T00:00:00.000Z',
};
const closed = { ...open, through: 1_000_000n };
const last = { entry: 500n, paid_at: '2026-11-14T12:00:00.000Z' };

// PostgreSQL words its plans in another way, and keeps figures of its own about the table.
it.skipIf(onPostgres).each([
  ['an open month', open, 'asc'],
  ['an open month', open, 'desc'],
  ['a closed month', closed, 'asc'],
  ['a closed month', closed, 'desc'],
] as const)('reads %s in pages without sorting it for each of them', async (_name, span, direction) => {
  const { db } = await makeLedger();
  for (const place of [null, last]) {
    const { beyond, order } = paidPage(span, place, direction);
    const page = sql`select h.id from history h where ${isPaidIn(span)} ${beyond} order by ${order} limit 100`;
    const { rows: plan } = await sql<{ detail: string }>`explain query plan ${page}`.execute(db);
    expect(plan.map(({ detail }) => detail).join('\n')).not.toContain('TEMP B-TREE');
  }
});
