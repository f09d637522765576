import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { addBatch, born } from '../support/ledger.ts';

it('counts in status what is not paid again of every batch, and writes nothing paid in the digits of its currency', async () => {
  const home = await makeHome({ settleMs: 0 });
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  await addBatch(ledger, ['OLD-1', 'OLD-2'], { id: 'old', state: 'returned' });
  const [failed = 0n] = await addBatch(ledger, ['OLD-3'], { id: 'old-b', state: 'failed' });
  await addBatch(ledger, ['OLD-4'], { id: 'old-c', state: 'success', successor_of: failed });
  for (let n = 0; n < 10; n += 1)
    await addBatch(ledger, [`NEW-${n}`], { id: `p-${n}`, state: 'refused', currency: 'JPY', amount: 900n });
  await ledger.close();
  const { out } = await home.run(['status']);
  expect(out).toContain('\n  10 payouts refused: counterfoil payouts --state refused\n');
  expect(out).toContain('\n  2 payouts returned: counterfoil payouts --state returned\n');
  expect(out).not.toContain('counterfoil payouts --state failed');
  expect(out).toMatch(/p-9 +1 +JPY 0 /);
});
