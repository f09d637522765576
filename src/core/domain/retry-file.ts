import { type CellProblem, columnKey } from './batch-rules.ts';
import { opensFormula, safeCell } from './csv-cell.ts';
import type { PayoutState } from './payout.ts';

/** How many payouts one file may repeat: all are decided in one transaction, as with `retry`. */
export const mostRetries = 1000;

/** A row's `retry_of` and `retry_evidence`: the payout that it repeats, and the evidence for that (P20). */
export type RetryClaim = { of: string; evidence: string };

/** A row that repeats a failed, refused or returned payout. */
export type RetryRow = RetryClaim & {
  row: number;
  reference: string;
  accountNumber: string;
  bankCode: string;
  /** Minor units of `currency`. */
  amount: bigint;
  currency: string;
};

/** The problems of such a row; or its effect, with the payout that it replaces. */
export type ExaminedRow =
  | { kind: 'bad'; row: number; problems: CellProblem[] }
  | { kind: 'pays_again'; row: number; reference: string; replaces: Replaced };

export type Replaced = {
  id: bigint;
  reference: string;
  state: PayoutState;
  batch: string;
  /** What its next successor follows: itself, or the last one that was cancelled. */
  follows: { id: bigint; reference: string };
  /** True while a person or a limit holds its batch: the repeat waits too. */
  held: boolean;
  /** True when its batch needs approvals: so does the repeat. */
  approved: boolean;
  /** The ids of this payout and of all that it repeats: none of them is a duplicate of the row. */
  line: ReadonlySet<bigint>;
  changed: string[];
};

/** The positions of the two columns that make a row repeat another; null if there is no `retry_of`. */
export function retryColumns(columns: readonly string[]): { of: number; evidence: number } | null {
  const keys = columns.map((name) => columnKey(name.trim()));
  const of = keys.indexOf(columnKey('retry_of'));
  return of === -1 ? null : { of, evidence: keys.indexOf(columnKey('retry_evidence')) };
}

/** Returns a cell that no spreadsheet runs and {@link restoredCell} restores exactly, even one with an apostrophe. */
export function guardedCell(text: string): string {
  return opensBehindQuotes(text) ? `'${text}` : text;
}

/** Restores the cell given to {@link guardedCell}, also after a program has dropped the added apostrophe. */
export function restoredCell(text: string): string {
  return text.startsWith("'") && opensBehindQuotes(text) ? text.slice(1) : text;
}

function opensBehindQuotes(text: string): boolean {
  return opensFormula(text.replace(/^'+/, ''));
}

/** One payout of a `failed.csv`: its original row, and the values that make the row repeat it. */
export type FailedRow = {
  cells: readonly string[];
  reference: string;
  claim: RetryClaim;
  state: PayoutState;
  message: string | null;
};

/**
 * The layout of a `failed.csv` for a batch with these columns. They keep their places; our columns follow, unless the
 * batch came from such a file and has them already.
 */
export function failedLayout(columns: readonly string[]): {
  header: string[];
  cellsOf: (row: FailedRow) => string[];
} {
  const keys = columns.map((name) => columnKey(name.trim()));
  const isRetryFile = retryColumns(columns) !== null;
  // The payer's own `reason` column is left alone.
  const foreignReason = keys.includes('reason') && (!isRetryFile || keys.includes('retryreason'));
  const ours = ['reference', 'retry_of', 'retry_evidence', foreignReason ? 'retry_reason' : 'reason'];
  const added = ours.filter((name) => !keys.includes(columnKey(name)));
  const header = [...columns.map(safeCell), ...added];
  const places = ours.map((name) => {
    const place = keys.indexOf(columnKey(name));
    return place === -1 ? columns.length + added.indexOf(name) : place;
  });
  return {
    header,
    cellsOf({ cells, reference, claim, state, message }) {
      const row = header.map((_, i) => guardedCell(cells[i] ?? ''));
      const values = [reference, claim.of, claim.evidence, guardedCell(reasonOf(state, message))];
      for (const [i, place] of places.entries()) row[place] = values[i] ?? '';
      return row;
    },
  };
}

const states: Partial<Record<PayoutState, string>> = {
  failed: 'failed after the service took it',
  refused: 'refused: the service did not take it',
  returned: 'returned after it was paid',
};

/** Says in one line why a payout was not paid, without invisible characters of the service. */
function reasonOf(state: PayoutState, message: string | null): string {
  const text = (message ?? '').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ').trim();
  const what = states[state] ?? state;
  if (text === '') return what;
  // A failed or returned payout may have no newer message than the answer to its order.
  return `${what}${state === 'refused' ? ':' : '; the last message was:'} ${text.slice(0, 200)}`;
}
