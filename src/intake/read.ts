import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { FormatName } from '../core/domain/file-formats.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { readCsv } from './csv-reader.ts';
import { formatOf } from './format-of.ts';
import type { RequiredColumns } from './header.ts';
import { type BegunFile, type FormatReader, maxRecordBytes, type ReadItem } from './reader.ts';
import { notAFile, unreadableCode } from './unreadable.ts';

const readers: Record<FormatName, FormatReader> = { csv: readCsv };

const hashedBytes = 262_144;

export type ReadLimits = { maxBytes: number; maxRows: number };

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
  /** Receives, in order, all bytes of the file that are sound. */
  seen(bytes: Buffer): void;
};

/**
 * Reads a batch, or another file of rows, in one stream. Yields the items of each piece together. Problems of the file
 * are items; I/O errors are thrown.
 */
export async function* readBatch(path: string, reading: Reading): AsyncGenerator<ReadItem[]> {
  const { wanted, limits, seen } = reading;
  const file = await opened(path);
  if ('problem' in file) return yield [{ kind: 'stop', problem: file }];
  try {
    reading.opened(await identityOf(file));
    const start = await beginning(file, limits);
    if ('problem' in start) return yield [{ kind: 'stop', problem: start }];
    const { format, ...head } = start;
    const begun = await readers[format]({ file, ...head, maxBytes: limits.maxBytes, wanted, seen });
    yield begun.problems.map((problem) => ({ kind: 'broken' as const, problem }));
    if (!begun.header) return;
    yield [{ kind: 'header', header: begun.header }];
    yield* rowItems(begun, limits);
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

type Beginning = { format: FormatName; head: Buffer; isWhole: boolean };

/** Checks size and first bytes before anything is parsed. */
async function beginning(file: FileHandle, { maxBytes }: ReadLimits): Promise<Beginning | Problem> {
  const stats = await file.stat();
  if (!stats.isFile()) return wholeFile(...notAFile);
  const { size } = stats;
  if (size === 0) return wholeFile('the file is empty', 'write a header line and at least one row');
  if (size > maxBytes)
    return wholeFile(
      `the file has ${size} bytes; at most ${maxBytes} are allowed`,
      'split it, or raise intake.max_bytes',
    );
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxRecordBytes + 4), 0, maxRecordBytes + 4, 0);
  const head = buffer.subarray(0, bytesRead);
  const format = formatOf(head);
  return typeof format === 'string' ? { format, head, isWhole: bytesRead === size } : format;
}

/** The rows behind the header, whatever the format: where empty ones stand, and how many there may be. */
async function* rowItems(
  { records: pieces, shaped }: BegunFile,
  { maxRows }: ReadLimits,
): AsyncGenerator<ReadItem[]> {
  let row = 0;
  let rows = 0;
  let blanks: number[] = [];
  for await (const { records, fault } of pieces) {
    const items: ReadItem[] = [];
    for (const cells of records) {
      if (++row === 1) continue;
      if (cells.every((cell) => cell.trim() === '')) {
        if (blanks.length < 1000) blanks.push(row);
        continue;
      }
      for (const blank of blanks) items.push({ kind: 'broken', problem: emptyRow(blank) });
      blanks = [];
      if (++rows > maxRows) {
        const fix = 'split the file, or raise intake.max_rows';
        items.push({ kind: 'stop', problem: wholeFile(`more than ${maxRows} rows`, fix) });
        return yield items;
      }
      items.push(shaped(row, cells));
    }
    if (fault) items.push({ kind: 'stop', problem: { row: row + 1, column: '', value: '', ...fault } });
    yield items;
    if (fault) return;
  }
}

function emptyRow(row: number): Problem {
  return { row, column: '', value: '', problem: 'an empty row between rows', fix: 'remove it' };
}
