import { type BatchRow, checkRow, type KnownColumn, type RowRules } from '../domain/batch-rules.ts';
import { foldReference } from '../domain/ids.ts';
import type { Problem } from '../domain/problem.ts';
import { type RetryClaim, restoredCell, retryColumns } from '../domain/retry-file.ts';
import {
  type FileItem,
  fileRows,
  hiddenIn,
  type RowJudge,
  repeatedReferences,
  short,
  tidy,
} from './file-rows.ts';
import { firstSeen } from './first-seen.ts';
import { batchColumns, type Header } from './header.ts';
import type { ReadLimits } from './read.ts';

/** A row that may be paid, as far as the file alone can tell. `like`: an earlier row with the same account, currency and amount. */
export type GoodRow = {
  row: number;
  cells: string[];
  parsed: BatchRow;
  like: number | null;
  /** What the row pays again, if anything (P20). */
  retry: RetryClaim | null;
};

/** The rows of a batch file. */
export function checkedRows(
  path: string,
  rules: RowRules,
  limits: ReadLimits,
): AsyncGenerator<FileItem<GoodRow>> {
  return fileRows(path, { wanted: batchColumns(rules), limits }, (header) => judge(header, rules));
}

function judge(header: Header, rules: RowRules): RowJudge<GoodRow> {
  const repeated = repeatedReferences();
  const retried = firstSeen();
  const likeness = firstSeen();
  const hidden = hiddenIn(header);
  const retryAt = retryColumns(header.columns);
  return (row, cells, tidied) => {
    const retry = retryClaim(tidied, retryAt);
    const values = retry === null ? tidied : meantCells(cells, retry).map(tidy);
    const problems = hidden(row, values);
    const cell = (column: KnownColumn): string | undefined => {
      const i = header.at[column];
      return i === undefined ? undefined : (values[i] ?? '');
    };
    const reference = cell('reference') ?? '';
    const checked = checkRow(cell, rules);
    const parsed = checked.kind === 'ok' ? checked.row : null;
    if (checked.kind === 'bad')
      problems.push(...checked.problems.map((one) => ({ row, ...one, value: short(one.value) })));
    problems.push(...repeated(row, reference));
    const twice = retry === null ? null : retried(foldReference(retry.of), row);
    if (retry !== null && twice !== null) problems.push(retriedTwice(row, retry, twice));
    if (!parsed || problems.length > 0) return { kind: 'bad', problems };
    const like = likeness(`${parsed.accountNumber} ${parsed.currency} ${parsed.amount}`, row);
    return { kind: 'good', good: { row, cells, parsed, like, retry } };
  };
}

/** What a row pays again; null for an ordinary one. */
function retryClaim(tidied: readonly string[], at: ReturnType<typeof retryColumns>): RetryClaim | null {
  const of = at === null ? '' : (tidied[at.of] ?? '');
  return at === null || of === '' ? null : { of, evidence: tidied[at.evidence] ?? '' };
}

/** The cells as they were before a `failed.csv` guarded them against spreadsheets; those of other rows as they came. */
export function meantCells(cells: string[], retry: RetryClaim | null): string[] {
  return retry === null ? cells : cells.map(restoredCell);
}

function retriedTwice(row: number, { of }: RetryClaim, earlier: number): Problem {
  const problem = `is paid again by row ${earlier} already`;
  return { row, column: 'retry_of', value: short(of), problem, fix: 'remove one of the two rows' };
}
