import { afterEach, beforeEach, expect, it } from 'vitest';
import { batchSums } from '../../src/books/batch-sums.sql.ts';
import { addBatch, addDiscrepancy, addPayout, makeWorld, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const batch = 'b-20261121-000001';
const sumsOf = async (id: string) => (await batchSums(world.ledger.db, [id])).get(id);

it('finds the paid part of a batch from the totals of its intake as if each payout were added up', async () => {
  const { ledger } = world;
  await addBatch(ledger, 'other');
  await addPayout(ledger, 'R1', ['ready', 'sending', 'success'], { amount: 9_000_000_000_000_000_000n });
  await addPayout(ledger, 'R2', ['ready', 'sending', 'success'], { amount: 250n, currency: 'ZAR' });
  await addPayout(ledger, 'R3', ['ready', 'sending', 'unknown'], { amount: 70n });
  const failed = await addPayout(ledger, 'R4', ['ready', 'sending', 'failed'], { amount: 400n });
  // Paid again in the same batch, and once more from the file of another batch.
  const again = await addPayout(ledger, 'R4-2', ['ready', 'sending', 'failed'], {
    amount: 400n,
    successor_of: failed,
  });
  await addPayout(ledger, 'R4-3', ['ready', 'sending', 'success'], {
    amount: 400n,
    successor_of: again,
    batch_id: 'other',
  });
  await addDiscrepancy(ledger, 'D1');
  await addDiscrepancy(ledger, 'D2', { state: 'resolved' });
  const added = await sumsOf(batch);
  const ordered = new Map([
    ['NGN', 9_000_000_000_000_000_470n],
    ['ZAR', 250n],
  ]);
  const totals = [...ordered].map(([currency, amount]) => ({ batch_id: batch, currency, amount }));
  await ledger.db
    .insertInto('batch_totals')
    .values([...totals, { batch_id: 'other', currency: 'NGN', amount: 400n }])
    .execute();
  const found = await sumsOf(batch);
  expect(found).toEqual(added);
  expect(found).toEqual({
    ordered,
    paid: new Map([
      ['NGN', 9_000_000_000_000_000_000n],
      ['ZAR', 250n],
    ]),
    paidCount: 2n,
    unpaid: new Map([
      ['paid_again', 2n],
      ['unknown', 1n],
    ]),
    // Its row is paid by the file of another batch, once.
    paidElsewhere: new Map([['NGN', 400n]]),
    open: 1n,
  });
  expect((await sumsOf('other'))?.paid).toEqual(new Map([['NGN', 400n]]));
});
