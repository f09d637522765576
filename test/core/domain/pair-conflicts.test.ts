import { expect, it } from 'vitest';
import {
  conflicts,
  type ListedRow,
  misplaced,
  type PairedPayout,
} from '../../../src/core/domain/pair-conflicts.ts';

const payout: PairedPayout = {
  ...{
    reference: 'R-1',
    referenceKey: 'r-1',
    transferId: null,
    trx: null,
    amount: 150_000n,
    currency: 'NGN',
  },
  ...{ accountNumber: '0123456789', bankCode: '058', mode: 'test', accepted: false },
  firstIntentAt: '2026-11-21T12:00:00.000Z',
  ...{ fee: null, fee_by: null, other_fees: null },
  ...{ id: 7n, batchId: 'B', state: 'pending', evidence: 'response', turnedRun: null },
  ...{ cameBackSince: false, sends: 1, possiblyTaken: 1, forgotten: false },
};
const row: ListedRow = {
  ...{
    transfer_id: 'T1',
    trx: 'X',
    reference: 'R-1',
    currency: 'ngn',
    amount: 150_000n,
    amount_text: '1500.00',
  },
  ...{ fee: null, account_number: '0123456789', bank_code: '058', domain: null, status: 'success' },
  ...{ created_at: '2026-11-21T12:00:05Z', updated_at: '2026-11-21T12:00:05Z' },
};
const found = (of: Partial<PairedPayout>, shown: Partial<ListedRow>) =>
  conflicts({ ...payout, ...of }, { ...row, ...shown }).map(
    ({ kind, expected, actual, difference, moved }) => [kind, expected, actual, difference, moved],
  );
const fewer = { amount: 140_000n, amount_text: '1400.00' };

it('P13: nothing differs where all that the list shows agrees, in any case of letters', () => {
  expect(found({}, {})).toEqual([]);
  expect(found({}, { domain: 'TEST', account_number: '', bank_code: '', created_at: '' })).toEqual([]);
  expect(found({}, { created_at: '2026-11-21T11:55:00Z' })).toEqual([]);
});

it('P15: names each difference of a transfer that the service accepted', () => {
  const accepted = { accepted: true };
  expect(found(accepted, fewer)).toEqual([['amount_conflict', '1500.00', '1400.00', '-100.00', true]]);
  expect(found(accepted, { ...fewer, currency: 'ZAR' })).toEqual([
    ['currency_conflict', 'NGN', 'ZAR', '', true],
  ]);
  expect(found(accepted, { currency: 'ZAR' })).toEqual([['currency_conflict', 'NGN', 'ZAR', '', true]]);
  expect(found(accepted, { ...fewer, domain: 'TEST' })).toHaveLength(1);
  expect(found(accepted, { account_number: '999' })).toEqual([
    ['beneficiary_conflict', '058/0123456789', '058/999', '', true],
  ]);
  expect(found(accepted, { domain: 'live' })).toEqual([['mode_conflict', 'test', 'live', '', true]]);
  expect(found(accepted, { created_at: '2026-11-20T00:00:00Z' })).toEqual([]);
  expect(conflicts({ ...payout, ...accepted }, { ...row, ...fewer })[0]?.evidence).toContain(
    'pending by response',
  );
  expect(conflicts({ ...payout, ...accepted, evidence: '' }, { ...row, ...fewer })[0]).toMatchObject({
    payoutId: 7n,
    transferId: 'T1',
    evidence: 'listed as transfer T1, success; ledger: pending by nothing yet',
  });
});

it('P15: a transfer that was never accepted and differs is another under our reference', () => {
  expect(found({}, { ...fewer, bank_code: '059' })).toEqual([
    [...['reference_collision', '1500.00; 058/0123456789', '1400.00; 059/0123456789', '-100.00'], true],
  ]);
  expect(found({}, { domain: 'live' })).toEqual([['reference_collision', 'test', 'live', '', true]]);
  const early = '2026-11-21T11:54:59Z';
  expect(found({}, { created_at: early })).toEqual([
    ['reference_collision', `created after ${payout.firstIntentAt}`, `created ${early}`, '', true],
  ]);
});

it('P15: what was never sent has no transfer, unless a person recorded how it was paid', () => {
  const never = { firstIntentAt: null, state: 'ready' as const };
  expect(found(never, {})).toEqual([
    ['reference_collision', 'never sent', `created ${row.created_at}`, '', true],
  ]);
  expect(found({ ...never, state: 'success' }, {})).toEqual([]);
  expect(found({ ...never, accepted: true }, {})).toEqual([]);
});

it.each([
  ['success', 'success', ''],
  ['success', 'failed', '-1500.00'],
  ['success', 'returned', '-1500.00'],
  ['success', 'pending', ''],
  ['failed', 'success', '1500.00'],
  ['pending', 'success', '1500.00'],
  ['pending', 'failed', ''],
  ['failed', 'returned', ''],
] as const)(
  'where the ledger says %s and the service %s, the misplaced money is "%s"',
  (state, shown, money) => {
    expect(misplaced({ ...payout, state }, shown)).toBe(money);
  },
);
