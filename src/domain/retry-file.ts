import { type CellProblem, columnKey } from './batch-rules.ts';
import { opensFormula, safeCell } from './csv-cell.ts';
import type { PayoutState } from './payout.ts';

/** How many payouts one file may pay again: they are decided in one transaction, as those of `retry` are. */
export const mostRetries = 1000;

/** What a row's `retry_of` and `retry_evidence` say: which payout it pays again, and on which evidence (P20). */
export type RetryClaim = { of: string; evidence: string };

/** A row of a file that pays again what failed, was refused or came back. */
export type RetryRow = RetryClaim & {
  row: number;
  reference: string;
  accountNumber: string;
  bankCode: string;
  /** Minor units of `currency`. */
  amount: bigint;
  currency: string;
};

/** What is wrong with such a row; or what it would do, with whom it replaces. */
export type ExaminedRow =
  | { kind: 'bad'; row: number; problems: CellProblem[] }
  | { kind: 'pays_again'; row: number; reference: string; replaces: Replaced };

/** The payout that a row pays again. */
export type Replaced = {
  id: bigint;
  reference: string;
  state: PayoutState;
  batch: string;
  /** True while a person or a limit holds the batch it came in: what pays it again waits too. */
  held: boolean;
  /** True when that batch needs approvals: so does what pays it again. */
  approved: boolean;
  /** It and the payouts that it paid again in its turn, by id: none of them is a duplicate of the row. */
  line: ReadonlySet<bigint>;
  /** The columns in which the row differs from it. */
  changed: string[];
};

/** Where a header names the two columns that make a row pay another again; null where it has no `retry_of`. */
export function retryColumns(columns: readonly string[]): { of: number; evidence: number } | null {
  const keys = columns.map((name) => columnKey(name.trim()));
  const of = keys.indexOf(columnKey('retry_of'));
  return of === -1 ? null : { of, evidence: keys.indexOf(columnKey('retry_evidence')) };
}

/**
 * A cell that no spreadsheet runs and that {@link restoredCell} gives back as it was, also where it began with an
 * apostrophe of its own.
 */
export function guardedCell(text: string): string {
  return opensBehindQuotes(text) ? `'${text}` : text;
}

/** The cell that {@link guardedCell} was given; also where a program has dropped the apostrophe that it added. */
export function restoredCell(text: string): string {
  return text.startsWith("'") && opensBehindQuotes(text) ? text.slice(1) : text;
}

function opensBehindQuotes(text: string): boolean {
  return opensFormula(text.replace(/^'+/, ''));
}

/** One payout of a `failed.csv`: its row as it came, and what makes the row pay it again. */
export type FailedRow = {
  cells: readonly string[];
  reference: string;
  claim: RetryClaim;
  state: PayoutState;
  message: string | null;
};

/**
 * The layout of a `failed.csv` for a batch with these columns: they stay in their places, ours follow unless a file
 * that paid something again brought them along.
 */
export function failedLayout(columns: readonly string[]): {
  header: string[];
  cellsOf: (row: FailedRow) => string[];
} {
  const keys = columns.map((name) => columnKey(name.trim()));
  const isRetryFile = retryColumns(columns) !== null;
  // A column `reason` of the payer's own is left alone.
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

/** Why a payout was not paid, in one line; what nobody can see in the service's words is left out. */
function reasonOf(state: PayoutState, message: string | null): string {
  const said = (message ?? '').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\s]+/gu, ' ').trim();
  const what = states[state] ?? state;
  if (said === '') return what;
  // What failed or came back may have nothing newer than the answer to its order.
  return `${what}${state === 'refused' ? ':' : '; the last message was:'} ${said.slice(0, 200)}`;
}
