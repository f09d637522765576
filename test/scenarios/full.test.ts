import { expect, it } from 'vitest';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

it('P29: a full run compares again what succeeded long before the window', async () => {
  const home = await makeHome(
    {},
    { COUNTERFOIL_RECONCILIATION_WINDOW_DAYS: '1', COUNTERFOIL_RECEIVER_ENABLED: 'false' },
  );
  await home.json(['submit', home.put('pay.csv', batchOf(3))], 0);
  await home.sandbox.settleAll();
  expect(await home.json(['reconcile', '--full'], 0)).toMatchObject({ complete: true, matched: 3 });
  for (const transfer of home.sandbox.book.transfers()) {
    const amount = transfer.reference === 'PAY-0002' ? '1.00' : transfer.amount;
    home.sandbox.book.change(transfer.id, {
      amount,
      created_at: '2026-01-01T00:00:00.000000Z',
      updated_at: '2026-01-01T00:00:00.000000Z',
    });
  }
  const again = await home.json(['reconcile', '--full'], 4);
  expect(again).toMatchObject({
    complete: true,
    matched: 3,
    discrepancies: { open: { amount_conflict: 1 } },
  });
});
