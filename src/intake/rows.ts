import { createHash } from 'node:crypto';
import { type BatchRow, checkRow, knownColumn, knownColumns, type RowRules } from '../domain/batch-rules.ts';
import { hiddenCharacter } from '../domain/hidden.ts';
import { foldReference } from '../domain/ids.ts';
import type { Problem } from '../domain/problem.ts';
import { type RetryClaim, restoredCell, retryColumns } from '../domain/retry-file.ts';
import { firstSeen } from './first-seen.ts';
import { batchColumns, type Header } from './header.ts';
import { type ReadLimits, readBatch } from './read.ts';

/** A row that may be paid, as far as the file alone can tell. `like`: an earlier row with the same account, currency and amount. */
export type GoodRow = {
  row: number;
  cells: string[];
  parsed: BatchRow;
  like: number | null;
  /** What the row pays again, if anything (P20). */
  retry: RetryClaim | null;
};
export type BadRow = { row: number; cells: string[]; problems: Problem[] };
export type RowItem =
  | { kind: 'header'; header: Header }
  | { kind: 'chunk'; good: GoodRow[]; bad: BadRow[] }
  /** A problem that refuses the file whatever `on_invalid_row` says. */
  | { kind: 'broken'; problem: Problem }
  /**
   * `contentHash` is over the canonical rows: BOM, line ends, quoting, column order do not make a new file (P23). Empty
   * for a broken file: what was left out of the hash may be the difference to a file that was taken.
   */
  | { kind: 'end'; rows: number; contentHash: string };

const rowsPerChunk = 2000;

/** Reads, checks and hashes a batch file in one stream. Both passes of intake use it, so that they see the same rows. */
export async function* checkedRows(
  path: string,
  rules: RowRules,
  limits: ReadLimits,
): AsyncGenerator<RowItem> {
  const hash = createHash('sha256');
  const references = firstSeen();
  const retried = firstSeen();
  const likeness = firstSeen();
  let canonical = (cells: string[]): string => JSON.stringify(cells);
  let header: Header | null = null;
  let good: GoodRow[] = [];
  let bad: BadRow[] = [];
  let rows = 0;
  let isBroken = false;
  for await (const item of readBatch(path, batchColumns(rules), limits)) {
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
      const retry = retryClaim(item.cells, header);
      const checked = checkCells(item.row, meantCells(item.cells, retry), header, rules);
      const problems = checked.problems;
      const { parsed } = checked;
      const reference = checked.reference;
      const earlier = reference === null ? null : references(foldReference(reference), item.row);
      if (reference !== null && earlier !== null) {
        const problem = `is already the reference of row ${earlier}`;
        problems.push({
          row: item.row,
          column: 'reference',
          value: reference,
          problem,
          fix: 'give each row a reference of its own',
        });
      }
      const twice = retry === null ? null : retried(foldReference(retry.of), item.row);
      if (retry !== null && twice !== null) problems.push(retriedTwice(item.row, retry, twice));
      if (parsed && problems.length === 0) {
        const like = likeness(`${parsed.accountNumber} ${parsed.currency} ${parsed.amount}`, item.row);
        good.push({ row: item.row, cells: item.cells, parsed, like, retry });
      } else bad.push({ row: item.row, cells: item.cells, problems });
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

/** What a row pays again; null for an ordinary one. */
function retryClaim(cells: readonly string[], { columns }: Header): RetryClaim | null {
  const at = retryColumns(columns);
  const of = at === null ? '' : tidy(cells[at.of] ?? '');
  return at === null || of === '' ? null : { of, evidence: tidy(cells[at.evidence] ?? '') };
}

/** The cells as they were before a `failed.csv` guarded them against spreadsheets; those of other rows as they came. */
export function meantCells(cells: string[], retry: RetryClaim | null): string[] {
  return retry === null ? cells : cells.map(restoredCell);
}

function retriedTwice(row: number, { of }: RetryClaim, earlier: number): Problem {
  const problem = `is paid again by row ${earlier} already`;
  return { row, column: 'retry_of', value: short(of), problem, fix: 'remove one of the two rows' };
}

/** Known columns in a fixed order, then the others by name: two spellings of the same table hash alike. */
export function canonicalForm(header: Header): (cells: string[]) => string {
  const others = header.columns
    .map((name, i) => ({ name: name.trim(), i }))
    .filter(({ name }) => knownColumn(name) === null)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return (cells) => {
    const at = (i: number | undefined): string | null => (i === undefined ? null : tidy(cells[i] ?? ''));
    const known = knownColumns.map((column) => at(header.at[column]));
    return `${JSON.stringify([known, others.map(({ name, i }) => [name, at(i)])])}\n`;
  };
}

/** Spaces around a value and the line ends inside it do not count. */
export function tidy(cell: string): string {
  return cell.replaceAll('\r\n', '\n').replace(/^ +| +$/g, '');
}

function checkCells(
  row: number,
  cells: string[],
  header: Header,
  rules: RowRules,
): { problems: Problem[]; parsed: BatchRow | null; reference: string | null } {
  const cell = (column: (typeof knownColumns)[number]): string | undefined => {
    const i = header.at[column];
    return i === undefined ? undefined : tidy(cells[i] ?? '');
  };
  const problems: Problem[] = [];
  cells.forEach((text, i) => {
    const name = header.columns[i]?.trim() ?? '';
    const known = knownColumn(name);
    const hidden = hiddenCharacter(tidy(text), known === null || known === 'narration');
    if (!hidden) return;
    const fix = 'delete it: type the value again';
    problems.push({
      row,
      column: known ?? name,
      value: short(text),
      problem: `holds the invisible character ${hidden}`,
      fix,
    });
  });
  const checked = checkRow(cell, rules);
  if (checked.kind === 'bad') {
    problems.push(...checked.problems.map((problem) => ({ row, ...problem, value: short(problem.value) })));
  }
  return {
    problems,
    parsed: checked.kind === 'ok' ? checked.row : null,
    reference: cell('reference') || null,
  };
}

/** A value as it may be quoted in a message. */
export function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
