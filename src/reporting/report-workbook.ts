import { columnKey, isNumberColumn } from './csv-file.ts';
import { figureSheets } from './figures.ts';
import { type Sheet, writeWorkbook, xlsxRowLimit } from './xlsx-file.ts';

/** Columns of numbers that only the figures have. */
const counts = new Set(
  'submitted submitted_amount settled settled_amount fee_not_told median_seconds p95_seconds'.split(' '),
);
/** What a person reads first comes first; whatever else was frozen follows. */
const order = ['action', 'statement', 'payouts', 'discrepancies', 'ageing', 'collections', ...figureSheets];

type Rows = (sheet: string) => AsyncIterable<string[][]>;

/** Writes report.xlsx: each frozen sheet of the run, `others` after those that every run has. */
export async function writeReportWorkbook(path: string, others: string[], rowsOf: Rows): Promise<void> {
  const sheets: Sheet[] = [];
  for (const name of new Set([...order, ...others])) {
    const rows = await collect(name, rowsOf(name));
    const header = rows[0];
    if (!header) continue;
    const isNumber = (column: string): boolean => isNumberColumn(column) || counts.has(columnKey(column));
    const numbers = header.flatMap((column, index) => (isNumber(column) ? [index] : []));
    sheets.push({ name: titleOf(name), rows, numbers: new Set(numbers) });
  }
  await writeWorkbook(path, sheets);
}

/** The rows of a sheet; where they are too many for a workbook, one that says where they are. */
async function collect(name: string, pages: AsyncIterable<string[][]>): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const page of pages) {
    rows.push(...page);
    if (rows.length > Number(xlsxRowLimit) + 1) {
      const why = `more than ${xlsxRowLimit} rows, which a workbook does not hold here: they are in ${name}.csv`;
      return [['note'], [why]];
    }
  }
  return rows;
}

/** `settle_times` as `Settle times`; a workbook allows 31 characters. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[_-]/g, ' ');
  return (words.slice(0, 1).toUpperCase() + words.slice(1)).slice(0, 31);
}
