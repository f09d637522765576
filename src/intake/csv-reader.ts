import { hiddenFinding } from '../core/domain/hidden.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { headerLine, readCsvHeader, spaceAtQuote } from './csv-header.ts';
import { csvRecords } from './csv-records.ts';
import type { Header } from './header.ts';
import { nulFault, utf8Pieces } from './pieces.ts';
import {
  type BegunFile,
  type FileFault,
  type FormatReader,
  maxRecordBytes,
  type OpenFile,
  type ReadItem,
} from './reader.ts';
import { strayRow } from './stray-row.ts';

/** So much of the file is searched for a header below a title. */
const searchedBelow = 8192;

/** Reads CSV in strict UTF-8. */
export const readCsv: FormatReader = async (open) => {
  const { head, isWhole, wanted } = open;
  const text = head.toString('utf8').replace(/^\ufeff/, '');
  const line = headerLine(text, isWhole);
  const nul = head.indexOf(0);
  // A NUL after the header is reported with its row.
  if (nul !== -1 && (line === null || nul <= Buffer.byteLength(line) + 3))
    return refused(nulFault(head.subarray(nul).every((byte) => byte === 0)));
  if (line === null)
    return refused({
      problem: `the first line is longer than ${maxRecordBytes} bytes, or a quote in it is never closed`,
      fix: 'check that the file is CSV with a header line',
    });
  const below = text
    .slice(line.length, line.length + searchedBelow)
    .split(/\r\n|\n|\r/)
    .slice(1, 21);
  const { header, problems } = readCsvHeader(line, wanted, below);
  if (!header) return { header, problems };
  const shape = (row: number, cells: string[]): ReadItem =>
    swallowed(row, cells, header) ?? shaped(row, cells, header);
  return { header, problems, records: records(open, header), shaped: shape };
};

function refused({ problem, fix }: FileFault): { header: null; problems: Problem[] } {
  return { header: null, problems: [wholeFile(problem, fix)] };
}

async function* records({ file, maxBytes, seen }: OpenFile, header: Header): BegunFile['records'] {
  const csv = csvRecords({ delimiter: header.delimiter, maxRecordBytes });
  let isStart = true;
  for await (const piece of utf8Pieces(file, maxBytes)) {
    if (piece.kind === 'bytes') seen(piece.bytes);
    const failed = piece.kind === 'bytes' ? await csv.write(piece.bytes) : await csv.end();
    const taken = csv.take();
    if (isStart && taken[0] && isOther(taken[0], header)) return yield { records: [], fault: oddHeader };
    isStart = isStart && taken.length === 0;
    const fault = piece.kind === 'fault' ? piece.fault : failed && csvFault(failed.code);
    yield { records: taken, fault };
    if (fault) return;
  }
}

/** Whether the parser sees other columns in the header than the detection of the delimiter did. */
function isOther(cells: string[], { columns }: Header): boolean {
  return (
    columns.some((name, i) => name !== cells[i]) ||
    cells.slice(columns.length).some((cell) => cell.trim() !== '')
  );
}

const oddHeader: FileFault = {
  problem: 'a quote or line break in the header leaves open where its columns end',
  fix: 'write the names of the columns without quotes, in one line',
};

/** Returns a row with exactly the header's cells, without empty cells beyond the last column. */
function shaped(row: number, cells: string[], header: Header): ReadItem {
  const width = header.columns.length;
  if (cells.length === width) return { kind: 'row', row, cells };
  if (cells.length === 1 && cells[0]?.trim() === '\u001a')
    return { kind: 'broken', problem: { row, column: '', value: '', ...hiddenFinding('U+001A') } };
  const extra = cells.slice(width);
  if (cells.length >= width && extra.every((cell) => cell.trim() === ''))
    return { kind: 'row', row, cells: cells.slice(0, width) };
  const stray = strayRow(row, cells, header);
  if (stray) return { kind: 'broken', problem: stray };
  const problem = `has ${cells.length} cells; the header has ${width} columns`;
  const fix =
    cells.length > width
      ? 'put quotes around a value that holds the delimiter, or remove the surplus cell'
      : 'add the missing cells; a quote or line break may be missing';
  return { kind: 'broken', problem: { row, column: '', value: '', problem, fix } };
}

function csvFault(code: string): FileFault {
  switch (code) {
    case 'CSV_INVALID_CLOSING_QUOTE':
      return spaceAtQuote;
    case 'CSV_QUOTE_NOT_CLOSED':
      return {
        problem: 'a quote that opens here is never closed',
        fix: 'close it, or double a quote that belongs to the text',
      };
    case 'CSV_MAX_RECORD_SIZE':
      return {
        problem: `is longer than ${maxRecordBytes} bytes`,
        fix: 'shorten it; a quote may be missing its partner',
      };
    default:
      return {
        problem: 'a quote stands inside a value, or behind a space at its beginning',
        fix: 'put quotes around the whole value, without a space before them, and double each quote in it',
      };
  }
}

/**
 * Finds a cell that holds another row of the file, as a stray pair of quotes causes. That row would silently
 * not be paid, so the file is refused. Null for every other row.
 */
function swallowed(
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
