import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hiddenFinding } from '../core/domain/hidden.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { csvRecords } from './csv-records.ts';
import { type Header, headerLine, type RequiredColumns, readHeader, spaceAtQuote } from './header.ts';
import { notCsv } from './not-csv.ts';
import { nulFault, utf8Pieces } from './pieces.ts';
import { strayRow } from './stray-row.ts';
import { unreadableCode } from './unreadable.ts';

/** One record is at most this many bytes. */
const maxRecordBytes = 131_072;
const hashedBytes = 262_144;
/** So much of the file is searched for a header below a title. */
const searchedBelow = 8192;

export type ReadLimits = { maxBytes: number; maxRows: number };
export type ReadItem =
  | { kind: 'header'; header: Header }
  | { kind: 'row'; row: number; cells: string[] }
  /**
   * A row with the wrong number of cells, or a header that lacks columns. It refuses the file, yet reading
   * goes on.
   */
  | { kind: 'broken'; problem: Problem }
  /** The file cannot be read further. */
  | { kind: 'stop'; problem: Problem };

/**
 * The file behind a handle. A path may name another file a moment later, so that only this tells whose bytes were read.
 * `key`: differs for another file, another owner, another size and a later write.
 */
export type ReadFile = { key: string; uid: number; mode: number };

/** What reading a file of rows needs. */
type Reading = {
  wanted: RequiredColumns;
  limits: ReadLimits;
  /** Receives the file whose bytes follow. */
  opened(file: ReadFile): void;
  /** Receives, in order, all bytes of the file that are sound text. */
  seen(bytes: Buffer): void;
};

/**
 * Reads a batch, or another file of rows, in one stream: strict UTF-8, then CSV. Yields the items of each
 * piece together. Problems of the file are items; I/O errors are thrown.
 */
export async function* readBatch(path: string, reading: Reading): AsyncGenerator<ReadItem[]> {
  const { wanted, limits } = reading;
  const file = await opened(path);
  if ('problem' in file) return yield [{ kind: 'stop', problem: file }];
  try {
    reading.opened(await identityOf(file));
    const start = await beginning(file, limits);
    if (start.kind === 'stop') return yield [start];
    const result = readHeader(start.line, wanted, start.below);
    yield result.problems.map((problem) => ({ kind: 'broken' as const, problem }));
    if (!result.header) return;
    yield [{ kind: 'header', header: result.header }];
    yield* records(file, result.header, reading);
  } finally {
    await file.close();
  }
}

/** Returns the SHA-256 of a file of at most `maxBytes`; null for a larger one or one that is no file. */
export async function bytesHashOf(path: string, limits: ReadLimits): Promise<string | null> {
  return (await hashBytes(path, limits))?.sha256 ?? null;
}

/** The same, with the file that these bytes are of. */
export async function hashBytes(
  path: string,
  { maxBytes }: ReadLimits,
): Promise<{ sha256: string; file: ReadFile } | null> {
  const file = await opened(path);
  if ('problem' in file) return null;
  const hash = createHash('sha256');
  try {
    if (!(await file.stat()).isFile()) return null;
    const identity = await identityOf(file);
    for (let read = 0; read <= maxBytes; ) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(hashedBytes), 0, hashedBytes, read);
      if (bytesRead === 0) return { sha256: hash.digest('hex'), file: identity };
      hash.update(buffer.subarray(0, bytesRead));
      read += bytesRead;
    }
    return null;
  } finally {
    await file.close();
  }
}

async function identityOf(file: FileHandle): Promise<ReadFile> {
  const { dev, ino, uid, size, mtimeNs, mode } = await file.stat({ bigint: true });
  return { key: [dev, ino, uid, size, mtimeNs].join(' '), uid: Number(uid), mode: Number(mode) };
}

/** Opens without blocking, since a pipe in the file's place would block for ever. */
async function opened(path: string): Promise<FileHandle | Problem> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const problem = unreadableCode(error);
    if (problem) return problem;
    throw error;
  }
}

/** `below`: the lines after the first one. */
type Beginning = { kind: 'line'; line: string; below: string[] } | { kind: 'stop'; problem: Problem };

const stop = (problem: string, fix: string): { kind: 'stop'; problem: Problem } => ({
  kind: 'stop',
  problem: wholeFile(problem, fix),
});

/** Checks size and first bytes before anything is parsed. */
async function beginning(file: FileHandle, limits: ReadLimits): Promise<Beginning> {
  const stats = await file.stat();
  if (!stats.isFile()) return stop('this is not a file', 'give a CSV file');
  const { size } = stats;
  if (size === 0) return stop('the file is empty', 'write a header line and at least one row');
  if (size > limits.maxBytes) {
    return stop(
      `the file has ${size} bytes; at most ${limits.maxBytes} are allowed`,
      'split it, or raise intake.max_bytes',
    );
  }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxRecordBytes + 4), 0, maxRecordBytes + 4, 0);
  const head = buffer.subarray(0, bytesRead);
  const other = notCsv(head);
  if (other) return { kind: 'stop', problem: other };
  const text = head.toString('utf8').replace(/^\ufeff/, '');
  const line = headerLine(text, bytesRead === size);
  const nul = head.indexOf(0);
  // A NUL after the header is reported with its row.
  if (nul !== -1 && (line === null || nul <= Buffer.byteLength(line) + 3)) {
    const { problem, fix } = nulFault(head.subarray(nul).every((byte) => byte === 0));
    return stop(problem, fix);
  }
  if (line === null)
    return stop(
      `the first line is longer than ${maxRecordBytes} bytes, or a quote in it is never closed`,
      'check that the file is CSV with a header line',
    );
  const below = text
    .slice(line.length, line.length + searchedBelow)
    .split(/\r\n|\n|\r/)
    .slice(1, 21);
  return { kind: 'line', line, below };
}

async function* records(
  file: FileHandle,
  header: Header,
  { limits, seen }: Reading,
): AsyncGenerator<ReadItem[]> {
  const csv = csvRecords({ delimiter: header.delimiter, maxRecordBytes });
  let row = 0;
  let rows = 0;
  let blanks: number[] = [];
  for await (const piece of utf8Pieces(file, limits.maxBytes)) {
    if (piece.kind === 'bytes') seen(piece.bytes);
    const failed = piece.kind === 'bytes' ? await csv.write(piece.bytes) : await csv.end();
    const items: ReadItem[] = [];
    for (const cells of csv.take()) {
      if (++row === 1) {
        if (isOther(cells, header)) return yield [{ kind: 'stop', problem: oddHeader }];
        continue;
      }
      if (cells.every((cell) => cell.trim() === '')) {
        if (blanks.length < 1000) blanks.push(row);
        continue;
      }
      for (const blank of blanks) items.push({ kind: 'broken', problem: emptyRow(blank) });
      blanks = [];
      if (++rows > limits.maxRows) {
        items.push(stop(`more than ${limits.maxRows} rows`, 'split the file, or raise intake.max_rows'));
        return yield items;
      }
      items.push(swallowed(row, cells, header) ?? shaped(row, cells, header));
    }
    const at = { row: row + 1, column: '', value: '' };
    if (piece.kind === 'fault') items.push({ kind: 'stop', problem: { ...at, ...piece.fault } });
    else if (failed) items.push({ kind: 'stop', problem: { ...at, ...csvFault(failed.code) } });
    yield items;
    if (items.at(-1)?.kind === 'stop') return;
  }
}

/** Whether the parser sees other columns in the header than the detection of the delimiter did. */
function isOther(cells: string[], { columns }: Header): boolean {
  return (
    columns.some((name, i) => name !== cells[i]) ||
    cells.slice(columns.length).some((cell) => cell.trim() !== '')
  );
}

const oddHeader: Problem = {
  row: 1,
  column: '',
  value: '',
  problem: 'a quote or line break in the header leaves open where its columns end',
  fix: 'write the names of the columns without quotes, in one line',
};

function emptyRow(row: number): Problem {
  return { row, column: '', value: '', problem: 'an empty row between rows', fix: 'remove it' };
}

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

function csvFault(code: string): { problem: string; fix: string } {
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
