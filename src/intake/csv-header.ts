import { parse } from 'csv-parse/sync';
import {
  beginWith,
  headerless,
  knownIn,
  looksLikeHeader,
  nearIn,
  type ReadHeader,
  type RequiredColumns,
  readHeader,
} from './header.ts';

const delimiters = [',', ';', '\t'] as const;

/**
 * Returns the first line, or null when it does not end within `text`. A line end inside quotes belongs to the
 * line.
 */
export function headerLine(text: string, isWhole: boolean): string | null {
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    if (!quoted && (text[i] === '\n' || text[i] === '\r')) return text.slice(0, i);
  }
  return isWhole ? text : null;
}

/** Picks the delimiter that gives the most known columns, and reads the header with it. `below`: the next lines. */
export function readCsvHeader(line: string, wanted: RequiredColumns, below: readonly string[]): ReadHeader {
  if (line.trim() === '')
    return headerless('the first line is blank: the header must be there', `remove it; ${beginWith(wanted)}`);
  if (/^"?sep=.?"?$/i.test(line))
    return headerless('the first line is a hint to Excel, not the header', 'remove that line');
  const readings = delimiters.map((delimiter) => ({
    format: 'csv' as const,
    delimiter,
    cells: split(line, delimiter),
  }));
  const weight = (cells: string[]): number => (knownIn(cells) * 1000 + nearIn(cells)) * 1000 + cells.length;
  const best = readings.reduce((a, b) => (weight(b.cells) > weight(a.cells) ? b : a));
  if (knownIn(best.cells) <= 1 && knownIn(split(line, '|')) > 1)
    return headerless(
      'the columns are separated by |',
      'save it with commas, semicolons or tabs between the columns',
    );
  const isHeader = (other: string): boolean =>
    delimiters.some((delimiter) => looksLikeHeader(split(other, delimiter)));
  const found = readHeader(best, wanted, () => below.findIndex(isHeader));
  const loose = looseQuote(line, best.delimiter);
  return found.header && loose !== null ? headerless(spaceAtQuote.problem, spaceAtQuote.fix, loose) : found;
}

/** The problem of a space between a quote and the delimiter, in the header and in rows. */
export const spaceAtQuote = {
  problem: 'a space, or another text, stands between a quote and the delimiter',
  fix: 'remove it: a quoted value begins and ends with its quotes, as in ,"Rent",; double each quote that belongs to the text',
};

/** Returns the quoted name that a space separates from its delimiter; null where there is none. */
function looseQuote(line: string, delimiter: string): string | null {
  const cells = line.split(delimiter);
  const loose = cells.find((cell) => /^\s+"[^"]*"\s*$|^\s*"[^"]*"\s+$/.test(cell));
  return loose === undefined ? null : loose.trim().slice(1, -1);
}

function split(line: string, delimiter: string): string[] {
  try {
    const rows: string[][] = parse(line, {
      delimiter,
      relax_quotes: true,
      relax_column_count: true,
      bom: true,
    });
    return rows[0] ?? [];
  } catch {
    return [];
  }
}
