import { createHash } from 'node:crypto';
import { hashedColumns, knownColumn } from '../core/domain/batch-rules.ts';
import { formats, readNames } from '../core/domain/file-formats.ts';
import { hiddenCharacter, hiddenFinding } from '../core/domain/hidden.ts';
import { foldReference } from '../core/domain/ids.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { firstSeen } from './first-seen.ts';
import type { Header, RequiredColumns } from './header.ts';
import { type ReadFile, type ReadLimits, readBatch } from './read.ts';
import type { ReadItem } from './reader.ts';
import { isLineEnd } from './unfinished.ts';

export type BadRow = { row: number; cells: string[]; problems: Problem[] };

/** The items of a file, judged by the file alone. `Good` is a row without a problem. */
export type FileItem<Good> =
  | { kind: 'header'; header: Header }
  | { kind: 'chunk'; good: Good[]; bad: BadRow[] }
  /** A problem that refuses the whole file, whatever `on_invalid_row` says. */
  | { kind: 'broken'; problem: Problem }
  /**
   * `contentHash` covers the canonical rows: BOM, line ends, quoting and column order do not make a new file
   * (P23). It is empty for a broken file, whose unread part may be what differs from an earlier file. `bytes`
   * and `bytesHash`: the bytes that were read, and their SHA-256. `endsInLine`: the last byte is a line end.
   * `lines`: the count that a text editor shows; where there are none, that of the rows with the header. `file`: whose bytes they are; null where it could not be opened.
   */
  | {
      kind: 'end';
      rows: number;
      contentHash: string;
      bytes: number;
      bytesHash: string;
      endsInLine: boolean;
      lines: number;
      file: ReadFile | null;
    };

/** Judges the rows of one file in order. `tidied` are the cells after {@link tidy}. */
export type RowJudge<Good> = (
  row: number,
  cells: string[],
  tidied: string[],
) => { kind: 'good'; good: Good } | { kind: 'bad'; problems: Problem[] };

const rowsPerChunk = 2000;
/** About the most bytes of a file in one chunk: wide or long rows come a few at a time. */
const bytesPerChunk = 2 ** 18;

/**
 * Reads, checks and hashes a file in one stream. Both passes over a file use it, so that they see the same
 * rows. The second pass leaves out the rows in `bad` and hashes the bytes alone, since equal bytes are equal
 * rows. Errors while reading are problems of the file; errors of the machine are thrown.
 */
export async function* fileRows<Good>(
  path: string,
  {
    bad: left,
    ...rules
  }: { wanted: RequiredColumns; limits: ReadLimits; bad?: ReadonlySet<number> | undefined },
  judgeOf: (header: Header) => RowJudge<Good>,
): AsyncGenerator<FileItem<Good>> {
  const hash = createHash('sha256');
  const tally = createTally();
  let file: ReadFile | null = null;
  const opened = (one: ReadFile): void => {
    file = one;
  };
  const reading = { ...rules, opened, seen: tally.add };
  let sheet: { judge: RowJudge<Good>; canonical: (tidied: string[]) => string; isText: boolean } | null =
    null;
  let chunk: { good: Good[]; bad: BadRow[] } = { good: [], bad: [] };
  let chunkFrom = 0;
  let rows = 0;
  let isBroken = false;
  for await (const items of withoutThrows(readBatch(path, reading))) {
    let canonical = '';
    for (const item of items) {
      if (item.kind === 'header') {
        const { isText } = formats[item.header.format];
        sheet = { judge: judgeOf(item.header), canonical: canonicalForm(item.header), isText };
        yield item;
      } else if (item.kind !== 'row') {
        isBroken = true;
        yield { kind: 'broken', problem: item.problem };
      } else if (sheet) {
        const { row, cells } = item;
        const tidied = cells.map(tidy);
        rows++;
        if (!left) canonical += sheet.canonical(tidied);
        else if (left.has(row)) continue;
        const judged = sheet.judge(row, cells, tidied);
        if (judged.kind === 'good') chunk.good.push(judged.good);
        else chunk.bad.push({ row, cells, problems: judged.problems });
        if (chunk.good.length + chunk.bad.length >= rowsPerChunk) {
          yield { kind: 'chunk', ...chunk };
          chunk = { good: [], bad: [] };
          chunkFrom = tally.bytes();
        }
      }
    }
    hash.update(canonical);
    if (tally.bytes() - chunkFrom < bytesPerChunk || chunk.good.length + chunk.bad.length === 0) continue;
    yield { kind: 'chunk', ...chunk };
    chunk = { good: [], bad: [] };
    chunkFrom = tally.bytes();
  }
  if (chunk.good.length + chunk.bad.length > 0) yield { kind: 'chunk', ...chunk };
  const { sha256, ...end } = tally.end(sheet?.isText ?? true, rows);
  const bytesHash = isBroken ? '' : sha256;
  const contentHash = isBroken || left ? '' : hash.digest('hex');
  yield { kind: 'end', rows, contentHash, bytesHash, file, ...end };
}

/** Counts and hashes the bytes of a file while it is read. */
function createTally() {
  const hash = createHash('sha256');
  let bytes = 0;
  let feeds = 0;
  let returns = 0;
  let last: number | undefined;
  return {
    bytes: () => bytes,
    add(piece: Buffer): void {
      hash.update(piece);
      bytes += piece.length;
      feeds += countOf(piece, 10);
      // A carriage return ends a line only in files without a line feed.
      if (feeds === 0) returns += countOf(piece, 13);
      last = piece.at(-1);
    },
    end(isText: boolean, rows: number) {
      const endsInLine = !isText || last === undefined || isLineEnd(last);
      const lines = (feeds > 0 ? feeds : returns) + (endsInLine ? 0 : 1);
      return { bytes, sha256: hash.digest('hex'), endsInLine, lines: isText ? lines : rows + 1 };
    },
  };
}

function countOf(piece: Buffer, byte: number): number {
  let count = 0;
  for (let at = piece.indexOf(byte); at !== -1; at = piece.indexOf(byte, at + 1)) count += 1;
  return count;
}

/** Whether every other file would meet this error too. */
export function isOfTheMachine(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(EMFILE|ENFILE|ENOMEM|ENOSPC)$/.test(code);
}

/** Turns an error while reading into the problem that refuses the file. */
async function* withoutThrows(items: AsyncGenerator<ReadItem[]>): AsyncGenerator<ReadItem[]> {
  try {
    yield* items;
  } catch (error) {
    if (isOfTheMachine(error)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const fix = `save it again as ${readNames}, or split it; if that does not help, the disk or the file is damaged`;
    yield [{ kind: 'stop', problem: wholeFile(`it cannot be read: ${short(what)}`, fix) }];
  }
}

const hashed: ReadonlySet<string> = new Set(hashedColumns);

/**
 * Returns the canonical text of a row: known columns in a fixed order, then the others by name. Two spellings
 * of the same table hash alike.
 */
function canonicalForm(header: Header): (tidied: string[]) => string {
  const others = header.columns
    .map((name, i) => ({ name: knownColumn(name.trim()) ?? name.trim(), i }))
    .filter(({ name }) => !hashed.has(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const places = hashedColumns.map((column) => header.at[column]);
  return (tidied) => {
    const at = (i: number | undefined): string | null => (i === undefined ? null : (tidied[i] ?? ''));
    return `${JSON.stringify([places.map(at), others.map(({ name, i }) => [name, at(i)])])}\n`;
  };
}

/** Removes spaces around a value and unifies the line ends inside it. */
export function tidy(cell: string): string {
  // A shortcut for nearly every cell.
  if (!cell.startsWith(' ') && !cell.endsWith(' ') && !cell.includes('\r')) return cell;
  return cell.replaceAll('\r\n', '\n').replace(/^ +| +$/g, '');
}

/** Finds invisible characters in tidied rows. Only a narration may hold line feeds and emoji. */
export function hiddenIn(header: Header): (row: number, cells: readonly string[]) => Problem[] {
  const columns = header.columns.map((text) => {
    const name = text.trim();
    const known = knownColumn(name);
    return { column: known ?? name, isNarration: known === 'narration' };
  });
  return (row, cells) => {
    const problems: Problem[] = [];
    // A shortcut for rows of printable ASCII, which nearly all are.
    if (/^[ -~]*$/.test(cells.join(''))) return problems;
    for (const [i, { column, isNarration }] of columns.entries()) {
      const text = cells[i] ?? '';
      const hidden = hiddenCharacter(text, isNarration ? 'narration' : '');
      if (!hidden) continue;
      problems.push({ row, column, value: short(text), ...hiddenFinding(hidden) });
    }
    return problems;
  };
}

/** Finds references that an earlier row has, ignoring case (P22). */
export function repeatedReferences(): (row: number, reference: string) => Problem[] {
  const references = firstSeen();
  return (row, value) => {
    const earlier = value === '' ? null : references(foldReference(value), row);
    if (earlier === null) return [];
    const problem = `is already the reference of row ${earlier}`;
    return [{ row, column: 'reference', value, problem, fix: 'give each row a reference of its own' }];
  };
}

/** Shortens a value for a message. */
export function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
