import { createHash, type Hash } from 'node:crypto';
import { knownColumn, knownColumns } from '../domain/batch-rules.ts';
import { hiddenCharacter } from '../domain/hidden.ts';
import { foldReference } from '../domain/ids.ts';
import type { Problem } from '../domain/problem.ts';
import { firstSeen } from './first-seen.ts';
import type { Header, Wanted } from './header.ts';
import { type ReadLimits, readBatch } from './read.ts';
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
   * `bytesHash`: how many bytes were read, and their SHA-256; `endsInLine`: the last of them is a line end.
   */
  | { kind: 'end'; rows: number; contentHash: string; bytes: number; bytesHash: string; endsInLine: boolean };

/** Judges the rows of one file in their order; `tidied` are the cells as {@link tidy} leaves them. */
export type RowJudge<Good> = (
  row: number,
  cells: string[],
  tidied: string[],
) => { kind: 'good'; good: Good } | { kind: 'bad'; problems: Problem[] };

const rowsPerChunk = 2000;

/**
 * Reads, checks and hashes a file in one stream. Both passes over a file use it, so that they see the same rows: the
 * second leaves out those that `bad` names, and has the hash of the bytes alone, since equal bytes are equal rows.
 */
export async function* fileRows<Good>(
  path: string,
  { bad: left, ...rules }: { wanted: Wanted; limits: ReadLimits; bad?: ReadonlySet<number> | undefined },
  judgeOf: (header: Header) => RowJudge<Good>,
): AsyncGenerator<FileItem<Good>> {
  const hash = createHash('sha256');
  const whole = createHash('sha256');
  let bytes = 0;
  let endsInLine = true;
  const seen = (piece: Buffer): void => {
    bytes += piece.length;
    endsInLine = isLineEnd(piece.at(-1));
    whole.update(piece);
  };
  const reading = { ...rules, seen };
  let sheet: { judge: RowJudge<Good>; canonical: (tidied: string[]) => string } | null = null;
  let good: Good[] = [];
  let bad: BadRow[] = [];
  let rows = 0;
  let isBroken = false;
  for await (const items of readBatch(path, reading)) {
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
        if (judged.kind === 'good') good.push(judged.good);
        else bad.push({ row, cells, problems: judged.problems });
        if (good.length + bad.length >= rowsPerChunk) {
          yield { kind: 'chunk', good, bad };
          good = [];
          bad = [];
        }
      }
    }
    hash.update(canonical);
  }
  if (good.length + bad.length > 0) yield { kind: 'chunk', good, bad };
  const digest = (of: Hash): string => (isBroken ? '' : of.digest('hex'));
  yield {
    kind: 'end',
    rows,
    contentHash: left ? '' : digest(hash),
    bytes,
    bytesHash: digest(whole),
    endsInLine,
  };
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

/** Finds the invisible characters of tidy rows; a narration and the columns that only come back may hold line feeds. */
export function hiddenIn(header: Header): (row: number, cells: readonly string[]) => Problem[] {
  const columns = header.columns.map((text) => {
    const name = text.trim();
    const known = knownColumn(name);
    return { column: known ?? name, lineFeeds: known === null || known === 'narration' };
  });
  return (row, cells) => {
    const problems: Problem[] = [];
    // Nearly all rows of a million hold nothing but plain letters.
    if (/^[ -~]*$/.test(cells.join(''))) return problems;
    for (const [i, { column, lineFeeds }] of columns.entries()) {
      const text = cells[i] ?? '';
      const hidden = hiddenCharacter(text, lineFeeds);
      if (!hidden) continue;
      const problem = `holds the invisible character ${hidden}`;
      problems.push({ row, column, value: short(text), problem, fix: 'delete it: type the value again' });
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
