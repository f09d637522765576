import { expect, it, onTestFinished } from 'vitest';
import {
  type ListedPayout,
  listPayouts,
  type PayoutFilter,
  type PayoutSums,
  payoutsWithSums,
  sumPayouts,
} from '../../../src/core/ledger/payout-list.ts';
import { replacementsOf } from '../../../src/core/ledger/replaced.ts';
import type { Db } from '../../../src/core/storage/ledger.ts';
import { addBatch, makeLedger, type TestLedger } from '../../support/ledger.ts';

/** Batches of three days; one is being taken in. The successors of the first day's were ordered on the second. */
async function filled(): Promise<TestLedger> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const failed = await addBatch(ledger, ['A-1', 'A-2', 'A-3'], { id: 'day-1', state: 'failed' });
  await addBatch(ledger, ['A-4'], { id: 'day-1b', state: 'success', currency: 'ZAR', bank_code: '999' });
  await addBatch(ledger, ['B-1', 'B-2'], { id: 'day-2', state: 'success', amount: 7n });
  await addBatch(ledger, ['R-1'], { id: 'day-1c', state: 'success', successor_of: failed[0] ?? 0n });
  await addBatch(ledger, ['R-2'], { id: 'day-1d', successor_of: failed[1] ?? 0n });
  await addBatch(ledger, ['C-1', 'C-2'], { id: 'day-3', phase: 'loading', state: 'ready' });
  const { db } = ledger;
  for (const day of ['1', '2', '3'])
    await db
      .updateTable('batches')
      .set({ created_at: `2026-11-${19 + Number(day)}T08:00:00.000Z` })
      .where('id', 'like', `day-${day}%`)
      .execute();
  return ledger;
}

async function listed(db: Db, filter: PayoutFilter, limit: number): Promise<ListedPayout[]> {
  const rows: ListedPayout[] = [];
  for await (const page of listPayouts(db, filter, limit)) rows.push(...page);
  return rows;
}

/** The sums of the rows themselves. */
async function added({ db }: TestLedger, filter: PayoutFilter): Promise<PayoutSums> {
  const rows = await listed(db, filter, 1000);
  const replaced = await replacementsOf(
    db,
    rows.map(({ id }) => id),
  );
  const groups = Map.groupBy(
    rows,
    ({ id, currency, state }) => `${currency} ${replaced.get(id)?.counted ?? state}`,
  );
  return [...groups.values()].flatMap((some) => {
    const [{ id, currency, state } = { id: 0n, currency: '', state: 'ready' as const }] = some;
    const minor = some.reduce((sum, { amount }) => sum + amount, 0n);
    return [{ currency, state: replaced.get(id)?.counted ?? state, count: some.length, minor }];
  });
}

const sorted = (sums: PayoutSums | null) =>
  (sums ?? []).map((one) => `${one.currency} ${one.state} ${one.count} ${one.minor}`).toSorted();

const days = [20, 21, 22, 23].map((day) => `2026-11-${day}T00:00:00.000Z`);
const filters: PayoutFilter[] = [
  {},
  ...(['failed', 'success', 'ready'] as const).map((state) => ({ state })),
  { batch: 'day-1' },
  { batch: 'day-1', state: 'failed' },
  { batch: 'day-3' },
  { currency: 'ZAR' },
  ...days.flatMap((since) => [{ since }, ...days.map((until) => ({ since, until }))]),
  ...days.map((until) => ({ until })),
  { since: days[1], state: 'success', currency: 'NGN' },
  { bank: '999' },
  { amount: '0.07' },
  { search: 'a-' },
];

it('says the sums of exactly the rows that a list has, by the kept totals or without', async () => {
  const ledger = await filled();
  let some = 0;
  for (const filter of filters) {
    const rows = sorted(await added(ledger, filter));
    some += rows.length;
    expect(sorted(await sumPayouts(ledger.db, filter)), JSON.stringify(filter)).toEqual(rows);
    const page = await payoutsWithSums(ledger.db, filter, { limit: 3, most: 100 });
    expect(sorted(page.sums), JSON.stringify(filter)).toEqual(rows);
    expect(page.rows).toEqual(await listed(ledger.db, filter, 3));
  }
  expect(some).toBeGreaterThan(30);
});

it('adds up no more than it may where no kept totals answer', async () => {
  const { db } = await filled();
  expect((await payoutsWithSums(db, { search: 'a-' }, { limit: 2, most: 3 })).sums).toBeNull();
  expect((await payoutsWithSums(db, { search: 'a-' }, { limit: 2, most: 4 })).sums).not.toBeNull();
  expect((await payoutsWithSums(db, { state: 'failed' }, { limit: 2, most: 1 })).sums).not.toBeNull();
});
