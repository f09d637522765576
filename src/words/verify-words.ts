import { formatMinor } from '../core/domain/money.ts';
import type { KeptTotal, LedgerProblem, ProblemFact, ProblemFacts } from '../custody/ledger-problem.ts';
import type { VerifyCheck } from '../custody/verify-ledger.ts';

type Words = { [K in keyof ProblemFacts]: (fact: ProblemFacts[K]) => string };

const words: Words = {
  database_broken: ({ said }) => said,
  unreadable: ({ said }) => `not everything could be read: ${said}`,
  trigger_missing: ({ trigger }) =>
    `the trigger ${trigger}, which protects written rows from changes, is missing`,
  stray_row: ({ table, rowid, parent }) =>
    `${table} row ${rowid ?? '?'} refers to a row of ${parent} that does not exist`,
  stray_rows: ({ n, table, parent }) =>
    `${n} rows of ${table} refer to a row of ${parent} that does not exist`,

  entry_missing: ({ seq, next }) => `history entry ${seq} is missing (the next is ${next})`,
  entry_unlinked: ({ seq, event }) =>
    `history entry ${seq} (${event}) does not follow the one before it: prev_hash`,
  entry_changed: ({ seq, event }) =>
    `history entry ${seq} (${event}) was changed: its hash is not that of its fields`,
  entry_count: ({ is, entries }) => `history_seq is ${is}, its history has ${entries} entries`,
  history_head: () => 'history_head is not the hash of its last history entry',

  entry_begins: ({ seq, event, from, before }) =>
    `history entry ${seq} (${event}) begins at ${from}, the one before ended at ${before}`,
  column: ({ column, is, byHistory }) =>
    `${column} is ${JSON.stringify(is)}, by its history it is ${JSON.stringify(byHistory)}`,
  payee_keys: () => 'the keys of its payee are not those of its name and payee_id',

  attempt_missing: ({ number, next }) => `attempt ${number} is missing (the next is ${next})`,
  attempt_unintended: ({ number }) => `attempt ${number} has no intent in its history`,
  attempt_outcome: ({ number, outcome, ended_at: at }) =>
    `attempt ${number} has outcome ${outcome} at ${at}, which its history does not contain`,
  intents: ({ intents, attempts }) => `${intents} intents in its history, but ${attempts} attempts`,
  entry_unattempted: ({ seq, event }) => `history entry ${seq} (${event}) belongs to no attempt`,
  never_submitted: () => 'submitted_at is empty, although an attempt may have left',
  not_in_flight: () => 'state is "sending", but no attempt is in flight',

  body_unreadable: () => 'body is not a JSON object',
  body_column: ({ column }) => `${column} in the row differs from the frozen body`,
  body_amount: ({ is, inBody }) =>
    `amount is ${is} minor units, the frozen body says ${inBody ?? 'nothing readable'}`,
  reference_key: () => 'reference_key is not its reference in lower case',
  other_batch: ({ batch }) => `batch_id is ${batch}, by its history it is another`,
  other_bodies: () => 'the digest of its frozen bodies (body_digest) is not the one its history begins with',
  other_body: () => 'body is not the one its history begins with',
  unapproved: () => 'it was sent without the approval that its row needed',

  comparison_unreadable: () => 'its comparison with the last batch cannot be read',
  comparison_digest: () => 'the digest of what changed about its payees is not that of the changes',
  comparison_total: ({ currency, total }) => `its comparison has the total ${currency} ${total ?? 'none'}`,
  comparison_row: ({ reference, row }) =>
    `its comparison names ${reference} in row ${row}, which is not there`,
  comparison_value: ({ reference, value }) =>
    `its comparison says "${value}" of ${reference}, which the payout does not`,
  approval_missed: ({ reference }) =>
    `${reference} changed, and needs no approval, although others of its batch do`,

  row_count: ({ was, is }) => `it was taken in with ${was} payouts and has ${is}, successors left out`,
  sums: ({ currency, is, frozen }) =>
    `its payouts add up to ${currency} ${formatMinor(is, currency)}, their frozen bodies to ${formatMinor(frozen, currency)}`,
  body_digest: () => 'body_digest is not that of its frozen bodies: one was changed, added or taken away',

  payout_totals: ({ currency, state, was, is }) =>
    `the figures count ${sumText(was, currency)} ${state}; it has ${sumText(is, currency)}`,
  attempt_totals: ({ outcome, was, is }) =>
    `the figures count ${was} attempts that ended as ${outcome}; the ledger has ${is}`,

  state_in_phase: ({ state, phase }) =>
    `state is "${state}" ${phase === 'loading' ? 'while its batch is still loading' : 'although its batch is cancelled'}`,
  history_early: () => 'it has a history before its batch was decided',
  history_none: () => 'it has no history',
  reasons_unreadable: () => 'hold_reasons cannot be read',
  held: ({ held }) =>
    `held is ${held}, although ${held === 0n ? 'its reasons hold' : 'no reason holds'} all of it`,

  sent_again: ({ at, seq, refuted }) =>
    `sent again at ${at} (entry ${seq}) while an earlier send ${refuted ? 'was' : 'may have been'} taken, without a decision`,

  successors: ({ count }) => `${count} successors were made of it`,
  successor_early: ({ state, seq }) => `a successor was made of it while it was ${state} (entry ${seq})`,
  successor_unordered: ({ of }) => `it pays ${of} again, but the history of ${of} does not order that`,
  successor_differs: ({ of }) => `it pays ${of} again, but another amount or another account`,

  backup_digest: () => 'digest is not the one that was written when the backup was made',
  backup_batch: () => 'the backup contained this batch, and it is missing',

  period_digest: () => 'its frozen rows do not match its digest',
  period_line: ({ line, currency, counted, frozen = 'nothing' }) =>
    `${line} in ${currency} is ${counted} by the history, ${frozen} in its statement`,
  period_begins: ({ before }) => `it does not begin where ${before} ended`,
  period_opening: ({ before, currency }) => `its opening in ${currency} is not the closing of ${before}`,

  last_state: ({ is, last = 'nothing' }) => `state is "${is}", by its last entry it is "${last}"`,
  attempt_count: ({ is, attempts }) => `attempt_count is ${is}, and it has ${attempts} attempts`,
  sent_archived: () => 'it was sent after it was archived',
  archived_payouts: () => 'its payouts are not those that were archived',
  archive_gone: ({ path }) => `the file is not at ${path}, so that nothing of it is proven: put it back`,
  archive_changed: () => 'the file was changed since it was made',
  amount_not_held: (amount) => `the ledger notes ${amountText(amount)}, which it does not hold`,
  amount_not_noted: (amount) => `it holds ${amountText(amount)}, which the ledger does not note`,
  in_archive: ({ problem }) => checkedText(problem),
};

const sumText = ({ n, amount }: KeptTotal, currency: string): string =>
  `${n} of ${currency} ${formatMinor(amount, currency)}`;

const amountText = ({ line, currency, month, amount }: ProblemFacts['amount_not_held']): string =>
  `${line} in ${currency} of ${month} (${amount})`;

const factText = <K extends keyof ProblemFacts>(fact: ProblemFact<K>): string => words[fact.kind](fact);

/** Says what `verify` found wrong, and of what. */
export function ledgerProblemText({ of, fact }: LedgerProblem): string {
  return of === null ? factText(fact) : `${of}: ${factText(fact)}`;
}

/** The same, with the check that found it. */
export function checkedText(problem: LedgerProblem): string {
  return `${problem.check}: ${ledgerProblemText(problem)}`;
}

/** The checks with what they found, as `verify` and its JSON say it. */
export function wordedChecks(checks: readonly VerifyCheck[]) {
  return checks.map((check) => ({ ...check, problems: check.problems.map(ledgerProblemText) }));
}
