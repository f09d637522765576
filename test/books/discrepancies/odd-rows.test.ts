import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { listedTransfer, nightOf } from './setting.ts';

const hour = 3_600_000;
let ledger: TestLedger;
let id: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  [id = 0n] = await addBatch(ledger, ['R-1']);
  for (const claim of await claimAt(ledger, at(0), 10))
    await recordOutcome(ledger, at(1), claim, replies.accepted('T-R-1'));
});
afterEach(() => ledger.remove());

const byHand = (other = {}) =>
  listedTransfer('', { id: 'T-hand', trx: 'TRX-hand', amount: '77.00', ...other });

it('a transfer without a reference, made by hand at the service, is one that nobody here ordered', async () => {
  const rows = [listedTransfer('R-1'), byHand()];
  const { open } = await nightOf(ledger, { at: hour, rows });
  expect(open).toMatchObject([
    { kind: 'missing_in_ledger', subject: 'transfer:T-hand', reference: '', actual: 'success 77.00 NGN' },
  ]);
  expect(open[0]?.action).toContain('by hand at the service');
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'success' });
  const again = await nightOf(ledger, { at: 2 * hour, rows });
  expect(again.summary.discrepancies).toMatchObject({ open: { missing_in_ledger: 1 }, opened: 0 });
});

it('a transfer of which the list shows nothing but its id is reported without an amount', async () => {
  const nothing = { trx: null, currency: '', amount: '', account_number: '', bank_code: '', status: '' };
  const rows = [listedTransfer('R-1'), byHand({ ...nothing, domain: null, created_at: '', updated_at: '' })];
  const { open } = await nightOf(ledger, { at: hour, rows });
  expect(open).toMatchObject([{ kind: 'missing_in_ledger', actual: 'no status no amount' }]);
});

it.each([
  [0, ['missing_in_ledger OTHER']],
  [-30 * 24 * hour, []],
])(
  'a stranger’s transfer with the number that we were answered, made at %d ms, is found as %j',
  async (ms, kinds) => {
    const money = { account_number: '9999999999', created_at: at(ms), updated_at: at(ms) };
    const rows = [listedTransfer('R-1', { id: '900' }), listedTransfer('OTHER', { id: 'T-R-1', ...money })];
    expect((await nightOf(ledger, { at: hour, rows })).kinds).toEqual(kinds);
  },
);

it('a stranger’s transfer with the number that we were answered stays reported where a short cut does not judge our payout', async () => {
  const days = (n: number) => n * 24 * hour;
  const money = { account_number: '9999999999', created_at: at(days(20)), updated_at: at(days(20)) };
  const stranger = listedTransfer('OTHER', { id: 'T-R-1', ...money });
  const ours = listedTransfer('R-1', { id: '900' });
  const whole = await nightOf(ledger, { at: days(21), rows: [ours, stranger] });
  expect(whole.kinds).toEqual(['missing_in_ledger OTHER']);
  const listing = { complete: 'window' as const, window: { edge: at(days(15)), base: whole.summary.run } };
  const shortCut = await nightOf(ledger, { at: days(22), rows: [stranger], listing });
  expect(shortCut.kinds).toEqual(['missing_in_ledger OTHER']);
});

it('a row without a reference is ours by the transfer id that was answered', async () => {
  const { kinds } = await nightOf(ledger, { at: hour, rows: [byHand({ id: 'T-R-1', amount: '1500.00' })] });
  expect(kinds).toEqual([]);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'success', evidence: 'response+listing' });
});
