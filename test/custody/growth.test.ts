import { expect, it, onTestFinished } from 'vitest';
import { ledgerGrowth, noteLedgerBytes } from '../../src/custody/growth.ts';
import { at, makeLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const dayMs = 24 * 60 * 60_000;
const nowMs = (days: number): number => Date.parse(at(days * dayMs));

// PostgreSQL grows by the rows of this test itself.
it.skipIf(onPostgres)(
  'tells bytes a day from what the runs of four weeks recorded, whatever shrank between',
  async () => {
    const ledger = await makeLedger();
    onTestFinished(() => ledger.remove());
    const { bytes, perDay } = await ledgerGrowth(ledger.db, nowMs(0));
    expect(perDay).toBeNull();
    expect(bytes).toBeGreaterThan(100_000);
    const sizes: [day: number, grownBy: number][] = [
      [0, -900_000],
      [20, -90_000],
      [30, -60_000],
      [31, -80_000],
      [40, -20_000],
    ];
    for (const [day, by] of sizes)
      await ledger.db
        .insertInto('runs')
        .values({
          id: `r-${day}`,
          started_at: at(day * dayMs),
          history_mark: 0n,
          ledger_bytes: BigInt(bytes + by),
        })
        .execute();
    const growth = await ledgerGrowth(ledger.db, nowMs(40));
    // The first run is too old; 30,000 + 60,000 grew between the others, and 20,000 since.
    expect(growth).toEqual({ bytes, perDay: 110_000 / 20, days: 20 });
  },
);

it('records the size at the end of a run', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  await ledger.write(async (trx) => {
    await trx
      .insertInto('runs')
      .values({ id: 'r', started_at: at(0), history_mark: 0n })
      .execute();
    await noteLedgerBytes(trx, 'r');
  });
  const { bytes } = await ledgerGrowth(ledger.db, nowMs(0));
  expect(await ledger.db.selectFrom('runs').select('ledger_bytes').execute()).toEqual([
    { ledger_bytes: BigInt(bytes) },
  ]);
});
