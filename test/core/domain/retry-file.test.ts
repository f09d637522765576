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
  expect(failedLayout(header).header).toEqual(header);
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
