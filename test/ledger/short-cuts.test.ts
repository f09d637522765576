import { expect, it } from 'vitest';
import { openBefore, trustedBase } from '../../src/ledger/short-cuts.ts';
import { listedTransfer, nightOf } from '../reconciliation/setting.ts';
import { addBatch, at, makeLedger } from '../support/ledger.ts';

it('P29: a complete listing of a version that noted no order is no base for a short cut', async () => {
  const ledger = await makeLedger();
  await nightOf(ledger, { at: 60_000, rows: [listedTransfer('R-1')], full: true });
  expect(await trustedBase(ledger.db, 'test')).toBeUndefined();
  const order = 'newest_first' as const;
  const run = await nightOf(ledger, {
    at: 120_000,
    rows: [listedTransfer('R-1')],
    full: true,
    listing: { order },
  });
  expect(await trustedBase(ledger.db, 'test')).toEqual({ run: run.summary.run, order, cut: at(120_000) });
  await ledger.remove();
});

it('P29: payouts that were never sent keep no edge back', async () => {
  const ledger = await makeLedger();
  await addBatch(ledger, ['R-1']);
  expect(await openBefore(ledger.db, 'test', at(1_000), 10)).toEqual([]);
  await ledger.remove();
});
