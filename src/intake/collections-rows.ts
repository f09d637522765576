import { createHash } from 'node:crypto';
import { knownColumn } from '../domain/batch-rules.ts';
import { checkExpectation, collectionColumns, type Expectation } from '../domain/collection-rules.ts';
import { hiddenCharacter } from '../domain/hidden.ts';
import { foldReference } from '../domain/ids.ts';
import type { Problem } from '../domain/problem.ts';
import { firstSeen } from './first-seen.ts';
import type { Header, Wanted } from './header.ts';
import { type ReadLimits, readBatch } from './read.ts';
import { type BadRow, canonicalForm, short, tidy } from './rows.ts';

/** Where files of expected collections are dropped, below the inbox. */
export const collectionsFolder = 'collections';

export type GoodExpectation = { row: number; cells: string[]; parsed: Expectation };
export type ExpectationItem =
  | { kind: 'header'; header: Header }
  | { kind: 'chunk'; good: GoodExpectation[]; bad: BadRow[] }
  /** A problem that refuses the file whatever `on_invalid_row` says. */
  | { kind: 'broken'; problem: Problem }
  /** `contentHash` as for batches: over the canonical rows, empty for a broken file (P23). */
  | { kind: 'end'; rows: number; contentHash: string };

const rowsPerChunk = 2000;
const wanted: Wanted = {
  required: collectionColumns,
  missingFix: (column) => `add a column with the header ${column}`,
};

/** Reads, checks and hashes a file of expected collections in one stream; both passes use it. */
export async function* expectationRows(path: string, limits: ReadLimits): AsyncGenerator<ExpectationItem> {
  const hash = createHash('sha256');
  const references = firstSeen();
  let canonical = (cells: string[]): string => JSON.stringify(cells);
  let header: Header | null = null;
  let good: GoodExpectation[] = [];
  let bad: BadRow[] = [];
  let rows = 0;
  let isBroken = false;
  for await (const item of readBatch(path, wanted, limits)) {
    if (item.kind === 'header') {
      header = item.header;
      canonical = canonicalForm(header);
      yield item;
    } else if (item.kind !== 'row') {
      isBroken = true;
      yield { kind: 'broken', problem: item.problem };
    } else if (header) {
      rows++;
      hash.update(canonical(item.cells));
      const { problems, parsed } = checkCells(item, header);
      const { cells, row } = item;
      const reference = tidy(cells[header.at.reference ?? -1] ?? '');
      const earlier = reference === '' ? null : references(foldReference(reference), row);
      if (earlier !== null) problems.push(repeated(row, reference, earlier));
      if (parsed && problems.length === 0) good.push({ row, cells, parsed });
      else bad.push({ row, cells, problems });
      if (good.length + bad.length >= rowsPerChunk) {
        yield { kind: 'chunk', good, bad };
        good = [];
        bad = [];
      }
    }
  }
  if (good.length + bad.length > 0) yield { kind: 'chunk', good, bad };
  yield { kind: 'end', rows, contentHash: isBroken ? '' : hash.digest('hex') };
}

/** The content hash of a file, or null where it cannot be read to its end. */
export async function expectationHash(path: string, limits: ReadLimits): Promise<string | null> {
  for await (const item of expectationRows(path, limits)) if (item.kind === 'end') return item.contentHash;
  return null;
}

function checkCells(
  { row, cells }: { row: number; cells: string[] },
  header: Header,
): { problems: Problem[]; parsed: Expectation | null } {
  const problems: Problem[] = [];
  cells.forEach((text, i) => {
    const name = header.columns[i]?.trim() ?? '';
    const known = knownColumn(name);
    const hidden = hiddenCharacter(tidy(text), known === null || known === 'narration');
    if (!hidden) return;
    const problem = `holds the invisible character ${hidden}`;
    const fix = 'delete it: type the value again';
    problems.push({ row, column: known ?? name, value: short(text), problem, fix });
  });
  const checked = checkExpectation((column) => {
    const i = header.at[column];
    return i === undefined ? undefined : tidy(cells[i] ?? '');
  });
  if (checked.kind === 'ok') return { problems, parsed: checked.row };
  problems.push(...checked.problems.map((one) => ({ row, ...one, value: short(one.value) })));
  return { problems, parsed: null };
}

function repeated(row: number, value: string, earlier: number): Problem {
  const problem = `is already the reference of row ${earlier}`;
  return { row, column: 'reference', value, problem, fix: 'give each row a reference of its own' };
}
