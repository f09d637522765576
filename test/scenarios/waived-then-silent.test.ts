import { expect, it } from 'vitest';
import { batchOf, csv, row } from '../support/cli.ts';
import { makeHome, stateOf } from '../support/decided.ts';

it('P15, P25: what an unproven list showed stays known after runs that read nothing', async () => {
  const home = await makeHome({}, { COUNTERFOIL_RECONCILIATION_MAX_PASSES: '2' });
  const { book } = home.sandbox;
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  // Paid by the lost copy of the ledger.
  book.plant({ reference: 'PAY-0005' });
  const { size } = book;
  book.size = (...about) => size(...about) + 1;
  await home.json(['restore', '--adopt', '--yes'], 4);
  await home.run(['reconcile', '--full']);
  await home.json(['release', '--mode', '--note', 'the bank statement shows all of it'], 0);
  for (let night = 0; night < 4; night++)
    await home.run(['reconcile'], { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_refused' });

  await home.run(['submit', home.put('again.csv', csv(row(5)))]);
  expect(home.sandbox.requests.bodies('PAY-0005')).toBe(0);
});

it('P15: nor does a ledger that never went back forget what a list showed that was not proven complete', async () => {
  const home = await makeHome({}, { COUNTERFOIL_RECONCILIATION_MAX_PASSES: '2' });
  const { book } = home.sandbox;
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  // Ordered elsewhere under a reference that a later file has too.
  book.plant({ reference: 'PAY-0005' });
  const { size } = book;
  book.size = (...about) => size(...about) + 1;
  await home.run(['reconcile', '--full']);
  for (let night = 0; night < 5; night++)
    await home.run(['reconcile'], { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_refused' });
  await home.run(['submit', home.put('again.csv', csv(row(5)))]);
  expect(home.sandbox.requests.bodies('PAY-0005')).toBe(0);
  expect(await stateOf(home, 'PAY-0005')).toBe('held');

  book.size = size;
  await home.run(['reconcile', '--full']);
  expect((await home.run(['release', 'again'])).out, 'the complete list shows it too').toContain(
    'stays held',
  );
});
