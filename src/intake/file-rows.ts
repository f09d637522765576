import { createHash } from 'node:crypto';
import { knownColumn, knownColumns } from '../domain/batch-rules.ts';
import { hiddenCharacter, hiddenFinding } from '../domain/hidden.ts';
import { foldReference } from '../domain/ids.ts';
import { type Problem, wholeFile } from '../domain/problem.ts';
import { firstSeen } from './first-seen.ts';
import type { Header, Wanted } from './header.ts';
import { type ReadItem, type ReadLimits, readBatch } from './read.ts';
import { isLineEnd } from './unfinished.ts';

export type BadRow = { row: number; cells: string[]; problems: Problem[] };

/** What the rows of a file are, as far as the file alone can tell; `Good` is one without a problem. */
export type FileItem<Good> =
  | { kind: 'header'; header: Header }
  | { kind: 'chunk'; good: Good[]; bad: BadRow[] }
  /** A problem that refuses the file whatever `on_invalid_row` says. */
  | { kind: 'broken'; problem: Problem }
  /**
   * `contentHash` is over the canonical rows: BOM, line ends, quoting, column order do not make a new file (P23). Empty
   * for a broken file: what was left out of the hash may be the difference to a file that was taken. `bytes` and
   * `bytesHash`: how many bytes were read, and their SHA-256; `endsInLine`: the last of them is a line end; `lines`: how
   * many lines a text editor shows.
   */
  | {
      kind: 'end';
      rows: number;
      contentHash: string;
      bytes: number;
      bytesHash: string;
      endsInLine: boolean;
      lines: number;
    };

/** Judges the rows of one file in their order; `tidied` are the cells as {@link tidy} leaves them. */
export type RowJudge<Good> = (
  row: number,
  cells: string[],
  tidied: string[],
) => { kind: 'good'; good: Good } | { kind: 'bad'; problems: Problem[] };

const rowsPerChunk = 2000;
/** What a chunk holds of a file at most, about: rows of many columns, or of long ones, come a few at a time. */
const bytesPerChunk = 2 ** 18;

/**
 * Reads, checks and hashes a file in one stream. Both passes over a file use it, so that they see the same rows: the
 * second leaves out those that `bad` names, and has the hash of the bytes alone, since equal bytes are equal rows. Whatever
 * is thrown while the file is read is a problem of the file; throws what is wrong with the machine.
 */
export async function* fileRows<Good>(
  path: string,
  { bad: left, ...rules }: { wanted: Wanted; limits: ReadLimits; bad?: ReadonlySet<number> | undefined },
  judgeOf: (header: Header) => RowJudge<Good>,
): AsyncGenerator<FileItem<Good>> {
  const hash = createHash('sha256');
  const tally = createTally();
  const reading = { ...rules, seen: tally.add };
  let sheet: { judge: RowJudge<Good>; canonical: (tidied: string[]) => string } | null = null;
  let chunk: { good: Good[]; bad: BadRow[] } = { good: [], bad: [] };
  let chunkFrom = 0;
  let rows = 0;
  let isBroken = false;
  for await (const items of withoutThrows(readBatch(path, reading))) {
    let canonical = '';
    for (const item of items) {
      if (item.kind === 'header') {
        sheet = { judge: judgeOf(item.header), canonical: canonicalForm(item.header) };
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
  const { sha256, ...end } = tally.end();
  const bytesHash = isBroken ? '' : sha256;
  const contentHash = isBroken || left ? '' : hash.digest('hex');
  yield { kind: 'end', rows, contentHash, bytesHash, ...end };
}

/** Counts and hashes the bytes of a file as they are read. */
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
      // Lines end in a carriage return alone only where there is no line feed.
      if (feeds === 0) returns += countOf(piece, 13);
      last = piece.at(-1);
    },
    end() {
      const endsInLine = last === undefined || isLineEnd(last);
      return {
        bytes,
        sha256: hash.digest('hex'),
        endsInLine,
        lines: (feeds > 0 ? feeds : returns) + (endsInLine ? 0 : 1),
      };
    },
  };
}

function countOf(piece: Buffer, byte: number): number {
  let count = 0;
  for (let at = piece.indexOf(byte); at !== -1; at = piece.indexOf(byte, at + 1)) count += 1;
  return count;
}

/** What no other file would be spared either. */
const ofTheMachine = /^(EMFILE|ENFILE|ENOMEM|ENOSPC)$/;

/** What is thrown while a file is read, as the problem that refuses it. */
async function* withoutThrows(items: AsyncGenerator<ReadItem[]>): AsyncGenerator<ReadItem[]> {
  try {
    yield* items;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (ofTheMachine.test(code)) throw error;
    const what = error instanceof Error ? error.message : String(error);
    const fix = 'save it again as CSV, or split it; if that does not help, the disk or the file is damaged';
    yield [{ kind: 'stop', problem: wholeFile(`it cannot be read: ${short(what)}`, fix) }];
  }
}

/** Known columns in a fixed order, then the others by name: two spellings of the same table hash alike. */
function canonicalForm(header: Header): (tidied: string[]) => string {
  const others = header.columns
    .map((name, i) => ({ name: name.trim(), i }))
    .filter(({ name }) => knownColumn(name) === null)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const places = knownColumns.map((column) => header.at[column]);
  return (tidied) => {
    const at = (i: number | undefined): string | null => (i === undefined ? null : (tidied[i] ?? ''));
    return `${JSON.stringify([places.map(at), others.map(({ name, i }) => [name, at(i)])])}\n`;
  };
}

/** Spaces around a value and the line ends inside it do not count. */
export function tidy(cell: string): string {
  // Nearly every cell of a million rows is as it should be.
  if (!cell.startsWith(' ') && !cell.endsWith(' ') && !cell.includes('\r')) return cell;
  return cell.replaceAll('\r\n', '\n').replace(/^ +| +$/g, '');
}

/** Finds the invisible characters of tidy rows; a narration alone may hold line feeds and emoji. */
export function hiddenIn(header: Header): (row: number, cells: readonly string[]) => Problem[] {
  const columns = header.columns.map((text) => {
    const name = text.trim();
    const known = knownColumn(name);
    return { column: known ?? name, isNarration: known === 'narration' };
  });
  return (row, cells) => {
    const problems: Problem[] = [];
    // Nearly all rows of a million hold nothing but plain letters.
    if (/^[ -~]*$/.test(cells.join(''))) return problems;
    for (const [i, { column, isNarration }] of columns.entries()) {
      const text = cells[i] ?? '';
      const hidden = hiddenCharacter(text, isNarration, isNarration);
      if (!hidden) continue;
      problems.push({ row, column, value: short(text), ...hiddenFinding(hidden) });
    }
    return problems;
  };
}

/** Finds references that an earlier row has, whatever their case (P22). */
export function repeatedReferences(): (row: number, reference: string) => Problem[] {
  const references = firstSeen();
  return (row, value) => {
    const earlier = value === '' ? null : references(foldReference(value), row);
    if (earlier === null) return [];
    const problem = `is already the reference of row ${earlier}`;
    return [{ row, column: 'reference', value, problem, fix: 'give each row a reference of its own' }];
  };
}

/** A value as it may be quoted in a message. */
export function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
