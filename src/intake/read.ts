import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import type { RowRules } from '../domain/batch-rules.ts';
import { type Problem, wholeFile } from '../domain/problem.ts';
import { type Header, headerLine, readHeader } from './header.ts';

/** One record is at most this many bytes (contract.md, intake.max_bytes). */
const maxRecordBytes = 131_072;

export type ReadLimits = { maxBytes: number; maxRows: number };
export type ReadItem =
  | { kind: 'header'; header: Header }
  | { kind: 'row'; row: number; cells: string[] }
  /** A row with the wrong number of cells, or a header that lacks columns: refuses the file, yet reading goes on. */
  | { kind: 'broken'; problem: Problem }
  /** The file cannot be read further. */
  | { kind: 'stop'; problem: Problem };

/** Reads a batch file in one stream: strict UTF-8, then CSV. What is wrong with the file comes as items; throws on I/O errors. */
export async function* readBatch(
  path: string,
  rules: RowRules,
  limits: ReadLimits,
): AsyncGenerator<ReadItem> {
  const file = await open(path, 'r');
  try {
    const start = await beginning(file, limits);
    if (start.kind === 'stop') return yield start;
    const found = readHeader(start.line, rules);
    yield* found.problems.map((problem) => ({ kind: 'broken' as const, problem }));
    if (!found.header) return;
    yield { kind: 'header', header: found.header };
    yield* records(file, found.header, limits);
  } finally {
    await file.close();
  }
}

type Beginning = { kind: 'line'; line: string } | { kind: 'stop'; problem: Problem };

const stop = (problem: string, fix: string): { kind: 'stop'; problem: Problem } => ({
  kind: 'stop',
  problem: wholeFile(problem, fix),
});

/** Looks at size and first bytes before anything is parsed. */
async function beginning(file: FileHandle, limits: ReadLimits): Promise<Beginning> {
  const { size } = await file.stat();
  if (size === 0) return stop('the file is empty', 'write a header line and at least one row');
  if (size > limits.maxBytes) {
    return stop(
      `the file has ${size} bytes; at most ${limits.maxBytes} are allowed`,
      'split it, or raise intake.max_bytes',
    );
  }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxRecordBytes + 4), 0, maxRecordBytes + 4, 0);
  const head = buffer.subarray(0, bytesRead);
  if (head.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) {
    return stop(
      'the file is a spreadsheet workbook or another zip archive, not CSV',
      'save it as "CSV UTF-8"',
    );
  }
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    return stop('the file is UTF-16, not UTF-8', 'save it as "CSV UTF-8"');
  }
  if (head.includes(0)) return binary();
  const line = headerLine(head.toString('utf8').replace(/^\ufeff/, ''), bytesRead === size);
  if (line === null)
    return stop(
      `the first line is longer than ${maxRecordBytes} bytes`,
      'check that the file is CSV with a header line',
    );
  return { kind: 'line', line };
}

const binary = () =>
  stop('the file holds NUL bytes: it is binary or UTF-16, not text', 'save it as "CSV UTF-8"');

async function* records(file: FileHandle, header: Header, limits: ReadLimits): AsyncGenerator<ReadItem> {
  let fault: { kind: 'stop'; problem: Problem } | null = null;
  const source = Readable.from(utf8Pieces(file, (found) => (fault = found)));
  const parser = parse({
    delimiter: header.delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: maxRecordBytes,
    bom: true,
  });
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  let row = 0;
  let blanks: { row: number; cells: number }[] = [];
  let rows = 0;
  try {
    for await (const record of parser) {
      const cells: string[] = record;
      if (++row === 1) continue;
      if (cells.every((cell) => cell.trim() === '')) {
        if (blanks.length < 1000) blanks.push({ row, cells: cells.length });
        continue;
      }
      for (const blank of blanks) yield { kind: 'broken', problem: emptyRow(blank.row) };
      blanks = [];
      if (++rows > limits.maxRows) {
        return yield stop(`more than ${limits.maxRows} rows`, 'split the file, or raise intake.max_rows');
      }
      yield shaped(row, cells, header);
    }
  } catch (error) {
    if (fault) return yield fault;
    if (!(error instanceof CsvError)) throw error;
    return yield { kind: 'stop', problem: csvProblem(error.code, row + 1) };
  } finally {
    parser.destroy();
    source.destroy();
  }
  if (fault) yield fault;
}

function emptyRow(row: number): Problem {
  return { row, column: '', value: '', problem: 'an empty row between rows', fix: 'remove it' };
}

/** A row with exactly the header's cells; empty ones beyond the last column are dropped. */
function shaped(row: number, cells: string[], header: Header): ReadItem {
  const width = header.columns.length;
  const extra = cells.slice(width);
  if (cells.length >= width && extra.every((cell) => cell.trim() === ''))
    return { kind: 'row', row, cells: cells.slice(0, width) };
  const problem = `has ${cells.length} cells; the header has ${width} columns`;
  const fix =
    cells.length > width
      ? 'put quotes around a value that holds the delimiter, or remove the surplus cell'
      : 'add the missing cells; a quote or line break may be missing';
  return { kind: 'broken', problem: { row, column: '', value: '', problem, fix } };
}

function csvProblem(code: string, row: number): Problem {
  const at = { row, column: '', value: '' };
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return {
        ...at,
        problem: 'a quote that opens here is never closed',
        fix: 'close it, or double a quote that belongs to the text',
      };
    case 'CSV_MAX_RECORD_SIZE':
      return {
        ...at,
        problem: `is longer than ${maxRecordBytes} bytes`,
        fix: 'shorten it; a quote may be missing its partner',
      };
    default:
      return {
        ...at,
        problem: 'a quote stands inside a value',
        fix: 'put quotes around the whole value and double each quote in it',
      };
  }
}

/** The file's bytes in whole characters. Bytes that are no UTF-8 and NULs end it with a fault that names the line. */
async function* utf8Pieces(
  file: FileHandle,
  fail: (fault: { kind: 'stop'; problem: Problem }) => void,
): AsyncGenerator<Buffer> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  for (let position = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(262_144), 0, 262_144, position);
    position += bytesRead;
    const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    const end = bytesRead === 0 ? bytes.length : bytes.length - unfinished(bytes);
    const piece = bytes.subarray(0, end);
    rest = bytes.subarray(end);
    if (piece.includes(0)) return fail(binary());
    if (!isUtf8(piece)) {
      const bad = piece
        .toString('latin1')
        .split('\n')
        .findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')));
      return fail(
        stop(
          `line ${line + Math.max(bad, 0)} holds bytes that are not UTF-8 (Windows-1252, perhaps)`,
          'save the file as "CSV UTF-8"',
        ),
      );
    }
    for (let at = piece.indexOf(10); at !== -1; at = piece.indexOf(10, at + 1)) line++;
    if (piece.length > 0) yield piece;
    if (bytesRead === 0) return;
  }
}

/** How many bytes at the end begin a character that the next read completes: 0 to 3. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}
