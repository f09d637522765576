import { afterEach, beforeEach, expect, it } from 'vitest';
import { payoutRanges } from '../../../src/core/ledger/payout-ranges.ts';
import { addBatch, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function ranges() {
  const all: { after: bigint; upTo: bigint }[] = [];
  for await (const range of payoutRanges(ledger.db)) all.push(range);
  return all;
}

it('every payout lies in exactly one range, however far apart their ids are', async () => {
  await addBatch(ledger, ['R-1']);
  const payout = await ledger.db.selectFrom('payouts').selectAll().executeTakeFirstOrThrow();
  for (const id of [10_000n, 10_001n, 34_567n])
    await ledger.db
      .insertInto('payouts')
      .values({ ...payout, id, reference: `R-${id}`, reference_key: `r-${id}` })
      .execute();
  const all = await ranges();
  for (const id of [payout.id, 10_000n, 10_001n, 34_567n])
    expect(all.filter(({ after, upTo }) => id > after && id <= upTo)).toHaveLength(1);
  expect(all.length).toBeGreaterThan(3);
});

it('what is taken in while the ranges are walked lies in the last one', async () => {
  expect(await ranges()).toEqual([{ after: 0n, upTo: 2n ** 63n - 1n }]);
});
