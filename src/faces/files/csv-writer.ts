import { stringify } from 'csv-stringify/sync';
import { safeCell, unsplitCell } from '../../core/domain/csv-cell.ts';
import { writeWhole } from '../../core/storage/atomic-file.ts';

/**
 * How CSV files are written: `reports.bom` and `reports.delimiter` of the configuration. `exact`: the cells are the user's
 * own, so their text changes only by a leading quote.
 */
export type CsvStyle = { bom: boolean; delimiter: string; exact?: boolean };

/** Writes rows as RFC 4180 with CRLF, whole or not at all, formula cells neutralised; the first row is the header. */
export async function writeCsv(
  path: string,
  pages: AsyncIterable<string[][]> | Iterable<string[][]>,
  style: CsvStyle,
): Promise<void> {
  await writeWhole(path, async (write) => {
    const text = csvText(style);
    await write(text([]));
    for await (const page of pages) await write(text(page));
  });
}

/** Gives the text of one page after another, as {@link writeCsv} writes them; the first one begins the file. */
export function csvText(style: CsvStyle): (page: string[][]) => string {
  let begun = false;
  const lines = createLines(style);
  return (page) => {
    const mark = style.bom && !begun ? '\ufeff' : '';
    begun = true;
    return mark + lines(page.map((cells) => cells.map(safeCell)));
  };
}

/** Joins the cells of a row. Only rows with a special character go through the library; most have none. */
function createLines({ delimiter, exact }: CsvStyle): (rows: string[][]) => string {
  const sign = /[",;|\t\r\n\u2028\u2029]/;
  const isPlain = (cells: string[]): boolean => {
    // A row of one empty cell needs quotes: else it would be an empty line.
    if (cells.length < 2) return false;
    for (const cell of cells) if (sign.test(cell)) return false;
    return true;
  };
  const unsplit = (cells: string[]): string[] =>
    exact === true ? cells : cells.map((cell) => unsplitCell(cell, delimiter));
  return (rows) => {
    let text = '';
    for (let from = 0; from < rows.length; ) {
      let upTo = from;
      const plain = isPlain(rows[from] ?? []);
      while (upTo < rows.length && isPlain(rows[upTo] ?? []) === plain) upTo += 1;
      const some = rows.slice(from, upTo);
      text += plain
        ? `${some.map((cells) => cells.join(delimiter)).join('\r\n')}\r\n`
        : quotedLines(some.map(unsplit), delimiter);
      from = upTo;
    }
    return text;
  };
}

function quotedLines(rows: string[][], delimiter: string): string {
  return stringify(rows, {
    delimiter,
    record_delimiter: '\r\n',
    // The library does not quote a cell with a lone CR or LF, but RFC 4180, 2.6 demands it. Some programs end a line at the others.
    quoted_match: /[\r\n\u2028\u2029]/,
  });
}
