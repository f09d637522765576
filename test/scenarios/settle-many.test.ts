import { expect, it } from 'vitest';
import { batchOf } from '../support/cli.ts';
import { agree, makeHome, stateOf } from '../support/decided.ts';

const settings = { COUNTERFOIL_RECONCILIATION_RETURN_HOURS: '0', COUNTERFOIL_RECEIVER_ENABLED: 'false' };
const references = (...numbers: number[]) => numbers.map((n) => `PAY-000${n}`);

/** Four payouts, paid and seen so; then the bank returns the first three. */
async function returnedAtBank() {
  const home = await makeHome({ settleMs: 60_000 }, settings);
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(4))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  expect(await stateOf(home, 'PAY-0001')).toBe('success');
  const { book } = home.sandbox;
  for (const { id, reference } of book.transfers('test'))
    if (reference !== 'PAY-0004') book.change(id, { status: 'failed', returned: true });
  return { home, batch: String(batches[0].batch) };
}

it('P36: three returned payouts are one discrepancy each, are returned by the second run, and are paid again in one step', async () => {
  const { home, batch } = await returnedAtBank();
  const first = await home.json(['reconcile'], 4);
  expect(first.discrepancies.open).toEqual({ status_conflict: 3 });
  expect(first.statement.NGN.verdict).toBe('exceptions');
  const second = await home.json(['reconcile'], 4);
  expect(second.discrepancies.open).toEqual({ returned_after_success: 3 });
  for (const name of references(1, 2, 3)) expect(await stateOf(home, name)).toBe('returned');
  expect(await stateOf(home, 'PAY-0004')).toBe('success');
  const again = await agree(home, 0, '--batch', batch, '--state', 'returned');
  expect(again.decided).toHaveLength(3);
});

it('settle closes many payouts at once, each on its own evidence, and says which it did not and why', async () => {
  const { home } = await returnedAtBank();
  await home.json(['reconcile'], 4);
  const how = ['--as', 'not-paid', '--note', 'bank statement of 3 May'];
  const asked = await home.run(['settle', ...references(1, 4), ...how]);
  expect(asked, 'it asks once').toMatchObject({ code: 2 });
  const done = await home.json(['settle', ...references(1, 4), ...how, '--yes'], 4);
  expect(done.settled).toEqual([{ reference: 'PAY-0001', state: 'failed' }]);
  expect(done.not_settled).toEqual([
    { reference: 'PAY-0004', state: 'success', why: expect.stringContaining('nothing contradicts that') },
  ]);
  const rest = await home.run(['settle', '--kind', 'status_conflict', '--batch', 'pay', ...how, '--yes']);
  expect(rest).toMatchObject({ code: 0, out: expect.stringContaining('2 payouts settled as not paid') });
  expect(
    (await home.run(['settle', '--kind', 'status_conflict', ...how, '--yes'])).code,
    'none is left',
  ).toBe(2);
  expect((await home.run(['settle', ...how, '--yes'])).err).toMatch(/name references, or narrow/);
  expect((await home.run(['settle', 'PAY-0001', '--batch', 'pay', ...how])).err).toMatch(/not both/);
  expect((await home.run(['settle', 'PAY-0001', 'PAY-9999', ...how, '--yes'])).code, 'a wrong name').toBe(2);
});
