import { afterEach, beforeEach, expect, it } from 'vitest';
import { pairCases, type WalkedRange } from '../../../src/books/discrepancies/pair-cases.sql.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { listedTransfer, nightOf, sendAll } from './setting.ts';

const hour = 3_600_000;
let ledger: TestLedger;
let ids: bigint[];
beforeEach(async () => {
  ledger = await makeLedger();
  ids = await addBatch(ledger, ['R-1', 'R-2']);
  await sendAll(ledger);
});
afterEach(() => ledger.remove());

const known = [listedTransfer('R-1', { id: 'T-R-1', fee: '1.00' })];

it('a payout that said nothing at first is judged again when a look-up moved it meanwhile', async () => {
  await nightOf(ledger, { at: hour, rows: [...known, listedTransfer('R-2', { id: 'T-R-2' })] });
  const [first = 0n] = ids;
  const blank = { transferId: null, trx: null, message: null, settledAt: null };
  const witness = { source: 'details' as const, status: 'success' as const, ...blank, fee: '2.00' };
  const event = { kind: 'witness' as const, witness };
  const night = await nightOf(ledger, {
    at: 2 * hour,
    rows: known,
    // R-2 is missing, so that something is asked.
    asking: () =>
      ledger.write((trx) => record(trx, at(2 * hour), [{ payoutId: first, source: 'details', event }])),
  });
  expect(night.kinds).toEqual(['fee_conflict R-1', 'missing_at_service R-2']);
});

it('a payout that got a transfer of its own only since is judged with it', async () => {
  const rows = [...known, listedTransfer('S-9', { id: 'T-9', trx: 'TRX-9' })];
  await nightOf(ledger, { at: hour, rows: [...rows, listedTransfer('R-2', { id: 'T-R-2' })] });
  const [first = 0n] = ids;
  const night = await nightOf(ledger, {
    at: 2 * hour,
    rows,
    asking: () => ledger.db.updateTable('payouts').set({ trx: 'TRX-9' }).where('id', '=', first).execute(),
  });
  expect(night.kinds).toContain('duplicate_at_service R-1');
});

it('a walk over the pairs says which ranges of payouts it went through, and that all payouts are in one', async () => {
  const { summary } = await nightOf(ledger, { at: hour, rows: known });
  const walked: WalkedRange[] = [];
  for await (const _ of pairCases(ledger.db, { run: summary.run, walked }, 10));
  expect(walked).toEqual([{ after: 0n, upTo: 2n ** 63n - 1n, any: false }]);
});
