import { expect, it } from 'vitest';
import { batchOf, type Home, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { everySecond } from '../support/serving.ts';

/** Ten payouts that succeeded long before the window of a day; afterwards the list shows one with another amount. */
async function changedLongAgo(): Promise<Home> {
  const home = await makeHome(
    { perPage: 2 },
    { COUNTERFOIL_RECONCILIATION_WINDOW_DAYS: '1', COUNTERFOIL_RECEIVER_ENABLED: 'false' },
  );
  await home.json(['submit', home.put('pay.csv', batchOf(10))], 0);
  await home.sandbox.settleAll();
  const { book } = home.sandbox;
  // In the order of the list: requests beside each other arrive in any.
  for (const [at, { id }] of book.transfers().entries()) {
    const longAgo = `2026-01-${String(at + 1).padStart(2, '0')}T00:00:00.000000Z`;
    book.change(id, { created_at: longAgo, updated_at: longAgo });
  }
  expect(await home.json(['reconcile', '--full'], 0)).toMatchObject({ complete: true, matched: 10 });
  const first = book.transfers().find(({ reference }) => reference === 'PAY-0001');
  if (!first) throw new Error('PAY-0001 was not sent');
  book.change(first.id, { amount: '1.00' });
  return home;
}

it('P29: a full run compares again what succeeded long before the window, and a short cut leaves it unread', async () => {
  const home = await changedLongAgo();
  expect(await home.json(['reconcile'], 0)).toMatchObject({
    complete: 'window',
    discrepancies: { open: {} },
  });
  expect(await home.json(['reconcile', '--full'], 4)).toMatchObject({
    complete: true,
    matched: 10,
    discrepancies: { open: { amount_conflict: 1 } },
  });
});

it('P29: the full run of the schedule ignores the window too', async () => {
  const home = await changedLongAgo();
  home.begin(['serve'], { COUNTERFOIL_SCHEDULES_RECONCILE_FULL: everySecond });
  const open = async () => (await home.run(['discrepancies', '--json'])).out;
  await until(20_000, open, (told) => told.includes('amount_conflict'));
});
