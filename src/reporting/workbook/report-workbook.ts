import { columnKey, isNumberColumn } from '../csv-writer.ts';
import { figureSheets } from '../figures.ts';
import { xlsxRowLimit } from './xlsx-file.ts';

/** Columns of numbers that only the figures have. */
const counts = new Set(
  'submitted submitted_amount settled settled_amount fee_not_told median_seconds p95_seconds'.split(' '),
);
/** The sheets that a person reads first; other frozen sheets follow. */
const order = ['action', 'statement', 'payouts', 'discrepancies', 'ageing', 'collections', ...figureSheets];

/** The sheets of report.xlsx in their order: each frozen sheet of a run, `others` after those that every run has. */
export function workbookSheets(others: readonly string[]): string[] {
  return [...new Set([...order, ...others])];
}

/** Which columns of a frozen sheet hold numbers. */
export function numbersOf(header: string[]): Set<number> {
  const isNumber = (column: string): boolean => isNumberColumn(column) || counts.has(columnKey(column));
  return new Set(header.flatMap((column, index) => (isNumber(column) ? [index] : [])));
}

/** The note in place of rows that are too many for a workbook. */
export function whereRowsAre(name: string): string[][] {
  const why = `more than ${xlsxRowLimit} rows, which a workbook does not hold here: they are in ${name}.csv`;
  return [['note'], [why]];
}

/** `settle_times` as `Settle times`; a workbook allows 31 characters. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]/g, ' ');
  return (words.slice(0, 1).toUpperCase() + words.slice(1)).slice(0, 31);
}
