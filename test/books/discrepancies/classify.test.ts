import { describe, expect, it } from 'vitest';
import { classifyPair } from '../../../src/books/discrepancies/classify.ts';
import { decimalDifference } from '../../../src/core/domain/discrepancy.ts';
import type { ListedRow, PairedPayout } from '../../../src/core/domain/pair-conflicts.ts';

const payout: PairedPayout = {
  id: 1n,
  batchId: 'b',
  reference: 'ACME-1',
  referenceKey: 'acme-1',
  transferId: '7',
  trx: null,
  amount: 150_000n,
  currency: 'NGN',
  accountNumber: '0123456789',
  bankCode: '058',
  mode: 'test',
  state: 'pending',
  evidence: 'response',
  fee: null,
  fee_by: null,
  other_fees: null,
  turnedRun: null,
  cameBackSince: false,
  firstIntentAt: '2026-11-21T12:00:00.000Z',
  accepted: true,
  sends: 1,
  possiblyTaken: 1,
  forgotten: false,
};
const row: ListedRow = {
  transfer_id: '7',
  trx: 'TRX7',
  reference: 'ACME-1',
  currency: 'NGN',
  amount: 150_000n,
  amount_text: '1500.00',
  fee: '10.00',
  account_number: '0123456789',
  bank_code: '058',
  domain: 'test',
  status: 'success',
  created_at: '2026-11-21T12:00:01.000Z',
  updated_at: '2026-11-21T12:01:00.000Z',
};
const kinds = (p: Partial<PairedPayout>, ...rows: Partial<ListedRow>[]): string[] =>
  classifyPair(
    { ...payout, ...p },
    rows.map((r) => ({ ...row, ...r })),
  ).found.map((f) => f.kind);

describe('a payout and what the list shows of it', () => {
  it('an agreeing row is a witness and no discrepancy', () => {
    expect(classifyPair(payout, [row])).toMatchObject({
      witness: { status: 'success', trx: 'TRX7' },
      found: [],
    });
  });

  it.each(['success', 'failed', 'returned', 'refused'] as const)(
    'a word that nobody knows about what is %s is a status_conflict, until it is known again',
    (state) => {
      const ended = { ...payout, state, evidence: 'response+listing', fee: '10.0' };
      const { witness, found } = classifyPair(ended, [{ ...row, status: 'cancelled' }]);
      expect(witness).toBeNull();
      expect(found).toMatchObject([{ kind: 'status_conflict', expected: state, actual: 'cancelled' }]);
      expect(classifyPair(ended, [{ ...row, status: '' }]).found).toEqual([]);
      expect(kinds({ state: 'pending' }, { status: 'in review' })).toEqual([]);
    },
  );

  it('what the listing said before is not said again', () => {
    const known = { ...payout, state: 'success' as const, evidence: 'response+listing', fee: '10.0' };
    expect(classifyPair(known, [row])).toEqual({ witness: null, found: [] });
  });

  it.each([
    { account_number: '', bank_code: '' },
    { account_number: '123456789', bank_code: '058' },
  ])('P13: a beneficiary that the list does not show, or whose account lost its zeros, agrees', (shown) => {
    expect(classifyPair(payout, [{ ...row, ...shown }])).toMatchObject({
      witness: { status: 'success' },
      found: [],
    });
  });

  it.each([
    ['amount_conflict', { amount: 150_001n, amount_text: '1500.01' }],
    ['amount_conflict', { amount: null, amount_text: '1.5e3' }],
    ['currency_conflict', { currency: 'ZAR' }],
    ['beneficiary_conflict', { account_number: '0123456780' }],
    ['beneficiary_conflict', { bank_code: '059' }],
    ['mode_conflict', { domain: 'live' }],
  ])(
    'after an answered acceptance it is %s, and without the answer reference_collision; the state stays',
    (kind, r) => {
      expect(kinds({}, r)).toEqual([kind]);
      expect(kinds({ accepted: false, state: 'unknown', transferId: null }, r)).toEqual([
        'reference_collision',
      ]);
      expect(classifyPair(payout, [{ ...row, ...r }]).witness).toBeNull();
    },
  );

  it('P13: a stranger’s transfer with the number that we were answered does not silence the one of our reference', () => {
    const stranger = { transfer_id: '7', reference: 'OTHER', account_number: '9999999999' };
    const rows = [
      { ...row, ...stranger },
      { ...row, transfer_id: '900' },
    ];
    expect(classifyPair(payout, rows, true).witness).toMatchObject({ status: 'success', transferId: '900' });
    expect(kinds({}, stranger), 'alone it is what we were answered').toEqual(['beneficiary_conflict']);
    expect(kinds({}, stranger, { transfer_id: '900' }), 'nor is ours a second one').toEqual([
      'missing_in_ledger',
    ]);
    expect(
      kinds({}, { ...stranger, account_number: '0123456789' }, { transfer_id: '900' }),
      'like ours',
    ).toEqual(['duplicate_at_service']);
  });

  it('P13: an account that the list shows as a number, without the zeros in front, is no conflict', () => {
    expect(kinds({}, { account_number: '123456789' })).toEqual([]);
  });

  it('P17: one that agrees and failed says nothing while an older one stands, and a person is told of that', () => {
    const sent = {
      ...payout,
      accepted: false,
      state: 'unknown' as const,
      transferId: null,
      sends: 2,
    };
    const old = { ...row, transfer_id: '7', status: 'success', created_at: '2026-11-21T11:00:00.000Z' };
    const { witness, found } = classifyPair(sent, [old, { ...row, status: 'failed' }], true);
    expect([witness, found.map(({ kind }) => kind)]).toEqual([null, ['reference_collision']]);
  });

  it('P15: a transfer older than our first intent is not ours', () => {
    const old = { created_at: '2026-11-21T11:00:00.000Z' };
    expect(kinds({ accepted: false, state: 'unknown', transferId: null }, old)).toEqual([
      'reference_collision',
    ]);
    expect(kinds({ accepted: false, state: 'cancelled', transferId: null, firstIntentAt: null }, {})).toEqual(
      ['reference_collision'],
    );
  });

  it('P14: two final words that differ are a status_conflict and change nothing', () => {
    expect(kinds({ state: 'failed' }, {})).toEqual(['status_conflict']);
    expect(classifyPair({ ...payout, state: 'failed' }, [row]).witness).toBeNull();
  });

  it('a late pending after success is no conflict', () => {
    expect(classifyPair({ ...payout, state: 'success' }, [{ ...row, status: 'pending' }])).toEqual({
      witness: null,
      found: [],
    });
  });

  it('P17: two transfers after one POST are duplicate_at_service, after a second POST paid_twice', () => {
    expect(kinds({}, {}, { transfer_id: '8' })).toEqual(['duplicate_at_service']);
    expect(kinds({ sends: 2 }, {}, { transfer_id: '8' })).toEqual(['paid_twice']);
    expect(kinds({ sends: 2 }, {}, { transfer_id: '8', status: 'failed' })).toEqual([]);
    expect(kinds({ forgotten: true }, {}, { transfer_id: '8' }), 'a lost ledger may have').toEqual([
      'paid_twice',
    ]);
  });

  it('P17: a failed transfer says nothing while another row of the reference stands, even one that is not ours', () => {
    const failed = { ...row, status: 'failed' };
    const strange = { ...row, transfer_id: '8', amount: 9n, amount_text: '0.09' };
    const judged = classifyPair(payout, [failed, strange], true);
    expect(judged.witness).toBeNull();
    expect(judged.found.map((one) => one.kind)).toEqual(['duplicate_at_service']);
  });

  it('P17: only a complete list counts the transfers, and only when every one of them is over', () => {
    const failed = { ...row, status: 'failed' };
    const back = { ...row, transfer_id: '8', status: 'reversed' };
    expect(classifyPair(payout, [failed]).witness?.transfers).toBeUndefined();
    expect(classifyPair(payout, [failed], true).witness?.transfers).toBe(1);
    expect(classifyPair(payout, [failed, back], true).witness).toMatchObject({
      status: 'returned',
      transfers: 2,
    });
    expect(classifyPair(payout, [row], true).witness?.transfers).toBeUndefined();
  });

  it('P17: a success shown as returned is told while the list lacks a transfer that may have been taken', () => {
    const back = { ...row, status: 'reversed' };
    const paid = { ...payout, state: 'success', evidence: 'details', sends: 2, possiblyTaken: 2 } as const;
    const kindsOf = (p: PairedPayout, ...rows: ListedRow[]) =>
      classifyPair(p, rows, true).found.map(({ kind }) => kind);
    expect(kindsOf(paid, back)).toEqual(['status_conflict']);
    expect(kindsOf(paid, back, { ...back, transfer_id: '8' })).toEqual([]);
    expect(kindsOf({ ...paid, possiblyTaken: 1 }, back), 'the other was turned away').toEqual([]);
  });

  it('P17, P25: so it is told while the list may lack a transfer, of a payout that a lost ledger may have sent too', () => {
    const back = { ...row, status: 'reversed' };
    const paid = { ...payout, state: 'success', evidence: 'details' } as const;
    const kindsOf = (p: PairedPayout, isComplete: boolean) =>
      classifyPair(p, [back], isComplete).found.map(({ kind }) => kind);
    expect(kindsOf({ ...paid, sends: 2, possiblyTaken: 2 }, false)).toEqual(['status_conflict']);
    expect(kindsOf({ ...paid, forgotten: true }, false)).toEqual(['status_conflict']);
    expect(kindsOf({ ...paid, forgotten: true }, true)).toEqual([]);
    expect(kindsOf(paid, false)).toEqual([]);
  });

  it('a fee that the list names for the first time, or names otherwise than before, is news', () => {
    const known = { ...payout, state: 'success', evidence: 'response+listing' } as const;
    const said = (fees: Partial<typeof payout>) => classifyPair({ ...known, ...fees }, [row]).witness?.fee;
    expect(said({ fee: '10', fee_by: 'listing' })).toBeUndefined();
    expect(said({ fee: '9.995', fee_by: 'webhook' })).toBe('10.00');
    expect(said({})).toBe('10.00');
    const other_fees = '{"listing":"10.00"}';
    expect(said({ fee: '9.995', fee_by: 'webhook', other_fees })).toBeUndefined();
  });
});

it('differences are exact and signed: actual minus expected', () => {
  expect(decimalDifference('1400.00', '1500.00')).toBe('-100.00');
  expect(decimalDifference('90071992547409931.01', '90071992547409931.00')).toBe('0.01');
  expect(decimalDifference('x', '1')).toBe('');
});
