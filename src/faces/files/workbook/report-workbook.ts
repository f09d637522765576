import { figureSheets } from '../../../books/figures.ts';
import { type Layout, ownColumns } from './columns.ts';
import { xlsxRowLimit } from './xlsx-file.ts';

/** The sheets that a person reads first; other frozen sheets follow. */
const order = ['action', 'statement', 'payouts', 'discrepancies', 'ageing', 'collections', ...figureSheets];

/** The name of the first sheet, which says in words what the others hold. */
export const summarySheet = 'Summary';

/** The name of the sheet of totals by the file's own columns. */
export const columnSheet = 'Totals by column';

/** How many rows of a sheet a workbook holds, including the header. */
export const sheetRows = Number(xlsxRowLimit) + 1;

/** The sheets of report.xlsx in their order: each frozen sheet of a run, `others` after those that every run has. */
export function workbookSheets(others: readonly string[]): string[] {
  return [...new Set([...order, ...others])];
}

/** Sheets whose rows are parts of each other, so that a sum would count them twice. */
const withoutTotals = new Set(['statement', 'statement-rows', 'settle_times', 'totals-by-column']);

/** How the table of a frozen sheet is laid out. */
export function layoutOf(sheet: string): Layout {
  return (header) => ownColumns(header, !withoutTotals.has(sheet));
}

/** The note in place of rows that are too many for a workbook. */
export function whereRowsAre(name: string): string[][] {
  const why = `more than ${xlsxRowLimit} rows, which a workbook does not hold here: they are in ${name}.csv`;
  return [['note'], [why]];
}
