import { expect, it } from 'vitest';
import { approvalWarningTexts, brakeWords } from '../../../src/words/results/result-words.ts';

const held = { kind: 'held', batch: 'november', moved: 3, underWay: { sending: 2 } } as const;

it('a page says how many payouts a hold no longer reaches', () => {
  expect(brakeWords({ ...held, ended: false })).toEqual({
    title: 'november: 3 payouts held',
    lines: ['2 payouts were being sent already, and go on.'],
  });
  expect(brakeWords({ kind: 'held_all', sending: 0 }).lines).toEqual(['Nothing was being sent.']);
});

it('a page does not call a batch held whose hold a release has ended', () => {
  expect(brakeWords({ ...held, ended: true })).toMatchObject({ title: 'november is not held', undone: true });
});

it('names the day of an earlier payout as people of the reports read it', () => {
  const first = { row: 2, reference: 'B', earlierReference: 'A', earlierBatch: 'a-1' };
  const found = {
    ...{ batch: 'b-1', others: [], compared: null, waiting: null, oddAccounts: { count: 0, firstRow: 0 } },
    alike: { count: 1, first: [{ ...first, earlierAt: '2026-11-21T23:30:00.000Z' }] },
  };
  expect(approvalWarningTexts(found, { zone: 'Africa/Lagos' }).command).toEqual([
    '1 payout of it with the account, currency and amount of an earlier one, the first: row 2 like A in batch a-1 of 2026-11-22',
  ]);
});
