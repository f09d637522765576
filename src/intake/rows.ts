import { bareAccount } from '../core/domain/bare-account.ts';
import { type BatchRow, checkRow, type KnownColumn, type RowRules } from '../core/domain/batch-rules.ts';
import { foldReference } from '../core/domain/ids.ts';
import type { Problem } from '../core/domain/problem.ts';
import { type RetryClaim, restoredCell, retryColumns } from '../core/domain/retry-file.ts';
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
import { type Header, requiredBatchColumns } from './header.ts';
import type { ReadLimits } from './read.ts';
import { strayRow } from './stray-row.ts';

/**
 * A row that may be paid, judged by the file alone. `like`: an earlier row with the same account, currency
 * and amount.
 */
export type GoodRow = {
  row: number;
  cells: string[];
  parsed: BatchRow;
  like: number | null;
  /** An earlier row with the same account. */
  sameAccount: number | null;
  /** The payout that the row pays again, if any (P20). */
  retry: RetryClaim | null;
};

/**
 * Reads the rows of a batch file. `bad`: the rows that the first pass found bad; the other rows are then not
 * compared with each other again. The end item shows whether it is still the same file.
 */
export function checkedRows(
  path: string,
  rules: RowRules,
  limits: ReadLimits,
  bad?: ReadonlySet<number>,
): AsyncGenerator<FileItem<GoodRow>> {
  const reading = { wanted: requiredBatchColumns(rules), limits, bad };
  return fileRows(path, reading, (header) => (bad ? judgeAgain(header, rules) : judge(header, rules)));
}

/** A row's cells without the guards of `failed.csv`, and the result of the row's rules. */
type Read = { retry: RetryClaim | null; values: string[]; checked: ReturnType<typeof checkRow> };

function reader(header: Header, rules: RowRules): (cells: string[], tidied: string[]) => Read {
  const retryAt = retryColumns(header.columns);
  let values: string[] = [];
  const cell = (column: KnownColumn): string | undefined => {
    const i = header.at[column];
    return i === undefined ? undefined : (values[i] ?? '');
  };
  return (cells, tidied) => {
    const retry = retryClaim(tidied, retryAt);
    values = retry === null ? tidied : meantCells(cells, retry).map(tidy);
    return { retry, values, checked: checkRow(cell, rules) };
  };
}

function judgeAgain(header: Header, rules: RowRules): RowJudge<GoodRow> {
  const read = reader(header, rules);
  return (row, cells, tidied) => {
    const { retry, checked } = read(cells, tidied);
    if (checked.kind === 'bad') return { kind: 'bad', problems: [] };
    return { kind: 'good', good: { row, cells, parsed: checked.row, like: null, sameAccount: null, retry } };
  };
}

function judge(header: Header, rules: RowRules): RowJudge<GoodRow> {
  const read = reader(header, rules);
  const repeated = repeatedReferences();
  const retried = firstSeen();
  const likeness = firstSeen();
  const hidden = hiddenIn(header);
  const referenceAt = header.at.reference ?? -1;
  return (row, cells, tidied) => {
    const { retry, values, checked } = read(cells, tidied);
    const stray = checked.kind === 'bad' ? strayRow(row, values, header) : null;
    if (stray) return { kind: 'bad', problems: [stray] };
    const problems = hidden(row, values);
    const reference = values[referenceAt] ?? '';
    const parsed = checked.kind === 'ok' ? checked.row : null;
    if (checked.kind === 'bad')
      problems.push(...checked.problems.map((one) => ({ row, ...one, value: short(one.value) })));
    problems.push(...repeated(row, reference));
    const twice = retry === null ? null : retried(foldReference(retry.of), row);
    if (retry !== null && twice !== null) problems.push(retriedTwice(row, retry, twice));
    if (!parsed || problems.length > 0) return { kind: 'bad', problems };
    const account = `${bareAccount(parsed.accountNumber)} ${parsed.currency}`;
    const sameAccount = likeness(`bank ${account} ${parsed.bankCode}`, row);
    const like = likeness(`${account} ${parsed.amount}`, row);
    return { kind: 'good', good: { row, cells, parsed, like, sameAccount, retry } };
  };
}

/** Returns what a row pays again; null for an ordinary one. */
function retryClaim(tidied: readonly string[], at: ReturnType<typeof retryColumns>): RetryClaim | null {
  const of = at === null ? '' : (tidied[at.of] ?? '');
  return at === null || of === '' ? null : { of, evidence: tidied[at.evidence] ?? '' };
}

/**
 * Returns the cells as they were before `failed.csv` guarded them against spreadsheets; those of other rows
 * unchanged.
 */
export function meantCells(cells: string[], retry: RetryClaim | null): string[] {
  return retry === null ? cells : cells.map(restoredCell);
}

function retriedTwice(row: number, { of }: RetryClaim, earlier: number): Problem {
  const problem = `is paid again by row ${earlier} already`;
  return { row, column: 'retry_of', value: short(of), problem, fix: 'remove one of the two rows' };
}
