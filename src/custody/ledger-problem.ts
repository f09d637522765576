import type { HistoryEvent } from '../core/domain/history-event.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import type { Attempt } from '../core/storage/tables/tables.ts';
import type { ArchivedAmount } from './archive/strip-ledger.ts';

/** The names of the checks of `verify`, in the order in which it shows them. */
export const checkNames = [
  'integrity',
  'foreign_keys',
  'history',
  'projection',
  'attempts',
  'orders',
  'payees',
  'balances',
  'totals',
  'phases',
  'at_most_once',
  'successors',
  'backup',
  'periods',
  'archives',
] as const;
export type CheckName = (typeof checkNames)[number];

/** `seq`: the number of a history entry. */
type Entry = { seq: bigint; event: HistoryEvent };
/** How many payouts, and their amount in minor units. */
export type KeptTotal = { n: bigint; amount: bigint };

/** What `verify` can find wrong, and the values that show it; `object` where the kind says it all. */
export type ProblemFacts = {
  /** `said`: by SQLite's own check. */
  database_broken: { said: string };
  unreadable: { said: string };
  trigger_missing: { trigger: string };
  stray_row: { table: string; rowid: bigint | null; parent: string };
  stray_rows: { table: string; n: bigint; parent: string };

  entry_missing: { seq: bigint; next: bigint };
  entry_unlinked: Entry;
  entry_changed: Entry;
  entry_count: { is: bigint; entries: bigint };
  history_head: object;

  entry_begins: Entry & { from: PayoutState | null; before: PayoutState | null };
  /** A column and its value, and the value by the payout's history. */
  column: { column: string; is: string | number | null; byHistory: unknown };
  payee_keys: object;

  attempt_missing: { number: number; next: bigint };
  attempt_unintended: { number: bigint };
  attempt_outcome: Pick<Attempt, 'number' | 'outcome' | 'ended_at'>;
  intents: { intents: number; attempts: number };
  entry_unattempted: Entry;
  never_submitted: object;
  not_in_flight: object;

  body_unreadable: object;
  body_column: { column: string };
  body_amount: { is: bigint; inBody: bigint | null };
  reference_key: object;
  other_batch: { batch: string };
  other_bodies: object;
  other_body: object;
  unapproved: object;

  comparison_unreadable: object;
  comparison_digest: object;
  comparison_total: { currency: string; total: string | undefined };
  comparison_row: { reference: string; row: number };
  comparison_value: { reference: string; value: string };
  approval_missed: { reference: string };

  row_count: { was: bigint; is: bigint };
  sums: { currency: string; is: bigint; frozen: bigint };
  body_digest: object;

  payout_totals: { currency: string; state: string; was: KeptTotal; is: KeptTotal };
  attempt_totals: { outcome: string; was: bigint; is: bigint };

  state_in_phase: { state: PayoutState; phase: 'loading' | 'cancelled' };
  history_early: object;
  history_none: object;
  reasons_unreadable: object;
  held: { held: bigint };

  /** `refuted`: the service took an earlier send for sure, whatever it said. */
  sent_again: { at: string; seq: bigint; refuted: boolean };

  successors: { count: number };
  successor_early: { seq: bigint; state: PayoutState | null };
  successor_unordered: { of: string };
  successor_differs: { of: string };

  backup_digest: object;
  backup_batch: object;

  period_digest: object;
  /** Decimals; `frozen`: undefined where the statement lacks the line. */
  period_line: { line: string; currency: string; counted: string; frozen: string | undefined };
  period_begins: { before: string };
  period_opening: { before: string; currency: string };

  last_state: { is: PayoutState; last: PayoutState | undefined };
  attempt_count: { is: bigint; attempts: number };
  sent_archived: object;
  archived_payouts: object;
  archive_gone: { path: string };
  archive_changed: object;
  amount_not_held: ArchivedAmount;
  amount_not_noted: ArchivedAmount;
  in_archive: { problem: LedgerProblem };
};

/** What is wrong, for `words/verify-words.ts`. */
export type ProblemFact<K extends keyof ProblemFacts = keyof ProblemFacts> = {
  [One in K]: { kind: One } & ProblemFacts[One];
}[K];

/** What a check found. `of`: the payout, batch, month or archive; null for the ledger as a whole. */
export type LedgerProblem = { check: CheckName; of: string | null; fact: ProblemFact };

/** Collects what a check finds about a payout or batch, fact by fact. */
export function problems(check: CheckName, of: string) {
  const list: LedgerProblem[] = [];
  return {
    list,
    add(fact: ProblemFact): LedgerProblem[] {
      list.push({ check, of, fact });
      return list;
    },
  };
}

/** The same of facts that are known together. */
export function problemsOf(
  check: CheckName,
  of: string | null,
  facts: readonly ProblemFact[],
): LedgerProblem[] {
  return facts.map((fact) => ({ check, of, fact }));
}
