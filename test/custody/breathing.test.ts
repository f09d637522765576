import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

/** Some milliseconds of work for SQLite. */
const long = sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) select max(i) from n`;

/** How often a timer comes to its turn while one transaction runs so many statements. */
async function turnsDuring(statements: number, breathes: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-test-'));
  const ledger = await openLedger(join(folder, 'ledger.db'), {
    now: () => '2026-11-01T00:00:00.000Z',
    breathes,
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await ledger.write(async (trx) => {
    for (let i = 0; i < statements; i++) await long.execute(trx);
  });
  clearInterval(timer);
  await ledger.close();
  rmSync(folder, { recursive: true });
  return turns;
}

it.skipIf(onPostgres)(
  'others get their turn between the statements of a long transaction, where it is asked for',
  async () => {
    expect(await turnsDuring(100, true)).toBeGreaterThan(3);
  },
);

it.skipIf(onPostgres)(
  'a transaction is one turn of the event loop otherwise, as virtual time needs it',
  async () => {
    expect(await turnsDuring(100, false)).toBe(0);
  },
);
