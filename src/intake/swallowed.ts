import type { Problem } from '../domain/problem.ts';
import type { Header } from './header.ts';

/**
 * The problem of a cell that holds another row of the file, as a stray pair of quotes makes it: paid as it stands, that
 * row would disappear without a word. Refuses the file. Null for every other row.
 */
export function swallowed(
  row: number,
  cells: readonly string[],
  header: Header,
): { kind: 'broken'; problem: Problem } | null {
  for (const [at, cell] of cells.entries()) {
    if (!/[\r\n]/.test(cell)) continue;
    const lines = cell.split(/\r\n|\n|\r/).slice(1);
    const rows = lines.filter((line) => isLikeRow(line.split(header.delimiter), at, header)).length;
    if (rows === 0) continue;
    const column = header.columns[at]?.trim() ?? '';
    const problem = `holds a line break and behind it what looks like ${rows === 1 ? 'another row' : `${rows} other rows`} of this file, which would not be paid`;
    const fix = 'remove the quote that opens this value, or close it in its own line';
    return { kind: 'broken', problem: { row, column, value: '', problem, fix } };
  }
  return null;
}

/**
 * A whole row has as many delimiters as the header. One that goes on behind the closing quote shows its beginning, up to
 * the column of the cell that holds it: that it is a row, its account number and amount tell.
 */
function isLikeRow(parts: readonly string[], at: number, { columns, at: places }: Header): boolean {
  const width = columns.length;
  if (width > 1 && parts.length >= width) return true;
  if (parts.length <= at) return false;
  const figures = [places.account_number, places.amount].filter((place) => place !== undefined && place < at);
  return figures.length > 0 && figures.every((place) => /^ *[\d.]+ *$/.test(parts[place ?? 0] ?? ''));
}
