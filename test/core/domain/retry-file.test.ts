import fc from 'fast-check';
import { expect, it } from 'vitest';
import { safeCell } from '../../../src/core/domain/csv-cell.ts';
import {
  type FailedRow,
  failedLayout,
  guardedCell,
  restoredCell,
} from '../../../src/core/domain/retry-file.ts';

const failed: FailedRow = {
  cells: ['A-1', '0123456785', '-Bonus'],
  reference: 'A-1-R2',
  claim: { of: 'A-1', evidence: '0123456789ab' },
  state: 'failed',
  message: 'name\u200b enquiry\nfailed',
};

it('keeps the columns of the batch in their places and adds what makes the row pay again', () => {
  const { header, cellsOf } = failedLayout(['Reference', 'account number', 'note']);
  expect(header).toEqual(['Reference', 'account number', 'note', 'retry_of', 'retry_evidence', 'reason']);
  expect(cellsOf(failed)).toEqual([
    'A-1-R2',
    '0123456785',
    "'-Bonus",
    'A-1',
    '0123456789ab',
    'failed after the service took it; the last message was: name enquiry failed',
  ]);
});

it('fills the columns that an earlier failed.csv brought along instead of naming them twice', () => {
  const first = failedLayout(['reference', 'account_number', 'note']);
  const { header, cellsOf } = failedLayout(first.header);
  expect(header).toEqual(first.header);
  const cells = first.cellsOf(failed).map(restoredCell);
  const again = { ...failed, cells, reference: 'A-1-R3', claim: { of: 'A-1-R2', evidence: 'x' } };
  expect(cellsOf(again).slice(0, 5)).toEqual(['A-1-R3', '0123456785', "'-Bonus", 'A-1-R2', 'x']);
});

it("leaves a column `reason` of the payer's own alone, the second time too, and adds a missing reference", () => {
  const { header } = failedLayout(['Reason']);
  expect(header).toEqual(['Reason', 'reference', 'retry_of', 'retry_evidence', 'retry_reason']);
  const again = failedLayout(header);
  expect(again.header).toEqual(header);
  const cells = ['my own', 'A-1', '', '', ''];
  expect(again.cellsOf({ ...failed, cells })[0]).toBe('my own');
});

it.each([
  ['failed', null, 'failed after the service took it'],
  ['refused', null, 'refused: the service did not take it'],
  ['refused', ' No such\naccount ', 'refused: the service did not take it: No such account'],
  ['returned', 'a', 'returned after it was paid; the last message was: a'],
  ['refused', 'x'.repeat(201), `refused: the service did not take it: ${'x'.repeat(200)}`],
] as const)(
  'says of a payout that was %s with the message %j why it is in the file',
  (state, message, reason) => {
    const { cellsOf } = failedLayout(['reference']);
    expect(cellsOf({ ...failed, cells: ['A-1'], state, message }).at(-1)).toBe(reason);
  },
);

it('leaves a cell alone that was never guarded', () => {
  for (const text of ['-5', "'Ada", 'Ada', '']) expect(restoredCell(text)).toBe(text);
});

it('gives every cell back as it was, and no spreadsheet runs one', () => {
  const cell = fc
    .array(fc.constantFrom("'", '=', '-', '+', '@', ' ', '\t', 'a', '0'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(cell, (text) => {
      expect(restoredCell(guardedCell(text))).toBe(text);
      expect(safeCell(guardedCell(text))).toBe(guardedCell(text));
    }),
  );
});
