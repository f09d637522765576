import type { Problem } from '../core/domain/problem.ts';
import type { Header } from './header.ts';

/**
 * Finds a cell that holds another row of the file, as a stray pair of quotes causes. That row would silently
 * not be paid, so the file is refused. Null for every other row.
 */
export function swallowed(
  row: number,
  cells: readonly string[],
  header: Header,
): { kind: 'broken'; problem: Problem } | null {
  // Nearly every row is in one line.
  if (!cells.some((cell) => cell.includes('\n') || cell.includes('\r'))) return null;
  for (const [at, cell] of cells.entries()) {
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
 * Whether a line looks like a row. A whole row has as many delimiters as the header. A row that continues
 * after the closing quote shows only its start, up to the cell's column; its account number and amount
 * identify it.
 */
function isLikeRow(parts: readonly string[], at: number, { columns, at: places }: Header): boolean {
  const width = columns.length;
  if (width > 1 && parts.length >= width) return true;
  if (parts.length <= at) return false;
  const figures = [places.account_number, places.amount].filter((place) => place !== undefined && place < at);
  return figures.length > 0 && figures.every((place) => /^ *[\d.]+ *$/.test(parts[place ?? 0] ?? ''));
}
