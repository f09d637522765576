import { stringify } from 'csv-stringify/sync';
import { numberCell, textCell, unsplitCell } from '../domain/csv-cell.ts';
import { writeAtomically } from './atomic-file.ts';

/**
 * How CSV files are written: `reports.bom` and `reports.delimiter` of the configuration. `returns`: the file comes back
 * through the inbox, so that the text inside its cells stays exactly as it is.
 */
export type CsvStyle = { bom: boolean; delimiter: string; returns?: boolean };

/** The columns whose plain decimals stay numbers (contract.md, "CSV out"); every other column is text. */
const numeric = new Set('amount fee service_amount expected actual difference count row age_days'.split(' '));

/** True for a column whose plain decimals are numbers. */
export function isNumberColumn(name: string): boolean {
  return numeric.has(columnKey(name));
}

/** Makes one row safe for a spreadsheet: which columns are numbers is read from the header. */
export function safeCells(header: string[]): (cells: string[]) => string[] {
  const cellOf = header.map((name) => (isNumberColumn(name) ? numberCell : textCell));
  return (cells) => cells.map((cell, index) => (cellOf[index] ?? textCell)(cell));
}

/** A header name as intake compares it: case, spaces and underscores do not matter (`Account Number`). */
export function columnKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '_');
}

/**
 * Writes `pages` of rows as RFC 4180 with CRLF, formula cells neutralised; the first row is the header. Whole or not
 * at all, one page in memory at a time.
 */
export async function writeCsv(
  path: string,
  pages: AsyncIterable<string[][]>,
  style: CsvStyle,
): Promise<void> {
  await writeAtomically(path, csvText(pages, style));
}

async function* csvText(pages: AsyncIterable<string[][]>, style: CsvStyle): AsyncGenerator<string> {
  if (style.bom) yield '\ufeff';
  let safe: ((cells: string[]) => string[]) | null = null;
  const whole = (cell: string): string =>
    style.returns === true ? cell : unsplitCell(cell, style.delimiter);
  for await (const page of pages) {
    const first = page[0];
    if (!first) continue;
    safe ??= safeCells(first);
    const rows = page.map(safe).map((cells) => cells.map(whole));
    yield stringify(rows, {
      delimiter: style.delimiter,
      record_delimiter: '\r\n',
      // A lone CR or LF inside a cell is no record delimiter to the library, yet must be quoted (RFC 4180, 2.6).
      quoted_match: /[\r\n]/,
    });
  }
}
