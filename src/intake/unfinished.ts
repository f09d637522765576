import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { writersText } from '../core/domain/waiting-file.ts';
import { openWriters } from './open-writers.ts';

/** A file without a final line end may be a part of an upload: it must stay unchanged this much longer. */
export const unendedMs = 60_000;

/**
 * Returns the problem of a named file that a process has open for writing; null where no such process is
 * seen.
 */
export async function openProblem(path: string): Promise<Problem | null> {
  const writers = (await openWriters([path])).get(path);
  if (!writers) return null;
  const problem = `the file is open for writing by ${writersText(writers)}: it may not be whole`;
  return wholeFile(problem, 'close it there, or wait until it is written, then give it again');
}

/**
 * Whether the last byte is a line end. True also where there is no last byte: intake reports that elsewhere.
 */
export async function endsInLineEnd(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  if (!file) return true;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size === 0) return true;
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, stats.size - 1);
    return isLineEnd(buffer[0]);
  } finally {
    await file.close();
  }
}

/** A line feed, or the carriage return of an old file. */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === 10 || byte === 13;
}

/** Returns the warning of a file that ends within a line, unless control figures or a marker vouch for it. */
export async function unendedWarning(
  path: string,
  { endsInLine, fileRows }: { endsInLine: boolean; fileRows: number },
): Promise<string[]> {
  if (endsInLine || fileRows === 0) return [];
  for (const ending of ['.done', '.control.json'])
    if (await lstat(path + ending).catch(() => null)) return [];
  return [
    'the file has no line end at its end: if an upload stopped there, its last row is cut; compare that row with its source',
  ];
}
