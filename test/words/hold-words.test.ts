import { expect, it } from 'vitest';
import { type HoldReason, readReasons } from '../../src/core/ledger/hold-reasons.ts';
import { holdTexts } from '../../src/words/hold-words.ts';

const match = { row: 2, reference: 'A', batch: 'b-0' };

it.each<[HoldReason, string]>([
  [{ kind: 'person' }, 'held by a person; counterfoil release lifts it'],
  [
    { kind: 'releasing', by: 'bob', mark: 7 },
    'its release by bob is in progress; counterfoil submit, serve or release b-1 finishes it if it was interrupted',
  ],
  [
    { kind: 'approval', why: { kind: 'always' }, dropper: 'alice' },
    'needs an approval (submission.approval is always) by somebody other than alice: counterfoil approve b-1',
  ],
  [
    {
      kind: 'approval',
      why: { kind: 'above', totals: [{ currency: 'NGN', total: '5.01', limit: '5.00' }] },
      dropper: 'ada',
    },
    'needs an approval (NGN 5.01 is above submission.approval_above, NGN 5.00) by somebody other than ada: counterfoil approve b-1',
  ],
  [
    { kind: 'named_again', ...match, reference: 'A-R2', earlier: 'A', others: 1 },
    'row 2 has the reference of a second payment of A in batch b-0 (A-R2), and 1 more, but no retry_of: released, it may pay A twice. A failed.csv that kept its columns retry_of and retry_evidence pays it once; check, then counterfoil release b-1',
  ],
  [
    { kind: 'alike', ...match, day: '2026-11-21', others: 0 },
    'possible duplicate: row 2 has the account, currency and amount of A in batch b-0 of 2026-11-21; check, then counterfoil release b-1',
  ],
  [
    { kind: 'value_again', row: 3, column: 'invoice_number', value: 'INV-7', before: { row: 2 }, others: 0 },
    'possible duplicate: row 3 has the invoice_number "INV-7" of row 2; check, then counterfoil release b-1',
  ],
  [
    { kind: 'original_held', ...match },
    'row 2 pays A again, whose batch b-0 is held; check, then counterfoil release b-1',
  ],
  [
    { kind: 'payout_limit', count: 2, first: [{ row: 2, currency: 'NGN', amount: '7.00' }] },
    '2 above submission.payout_limit: row 2 (NGN 7.00); check, then counterfoil release b-1',
  ],
])('says why a batch is held and what to do: %o', (reason, words) => {
  expect(holdTexts([reason], 'b-1')).toEqual([words]);
});

it('names no batch for a file that has none yet', () => {
  const reasons: HoldReason[] = [
    { kind: 'approval', why: { kind: 'original', ...match }, dropper: '' },
    { kind: 'repeated_row', row: 3, earlier: 2, others: 1 },
    { kind: 'approval', why: { kind: 'callback' }, dropper: 'ada' },
  ];
  expect(holdTexts(reasons, null)).toEqual([
    'needs an approval by somebody else (row 2 pays A again, whose batch b-0 needs approvals): counterfoil approve',
    'possible duplicate: row 3 has the account, currency and amount of row 2, and 1 more',
    'needs an approval (submission.approval is callback) by somebody other than ada: counterfoil approve',
  ]);
});

it('loses no hold that it cannot read', () => {
  expect(() => readReasons('["held by a person"]')).toThrow();
  expect(() => readReasons('[{"kind":"another"}]')).toThrow();
  expect(() => readReasons('{}')).toThrow();
});

it('shows no value of a column to a reader who may not see bank details: the setting may name any', () => {
  const again = {
    kind: 'value_again',
    row: 3,
    column: 'account_number',
    before: { row: 2 },
    others: 0,
  } as const;
  expect(holdTexts([{ ...again, value: '0123456789' }], 'b-1', { names: false })).toEqual([
    'possible duplicate: row 3 has the account_number of row 2; check, then counterfoil release b-1',
  ]);
});
