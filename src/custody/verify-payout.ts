import { payeeKeysOf } from '../core/domain/payee-name.ts';
import { historyHash, readDetail } from '../core/ledger/history.ts';
import { columns, type Row } from '../core/ledger/projection.ts';
import type { Attempt, HistoryRow, Payout } from '../core/storage/tables/tables.ts';
import { type LedgerProblem, problems } from './ledger-problem.ts';

/** An attempt without the reply's text. */
export type ProvenAttempt = Pick<Attempt, 'id' | 'payout_id' | 'number' | 'outcome' | 'ended_at' | 'code'>;

export type ProvenEvents = {
  payout: Payout;
  /** Ordered by `seq`. */
  history: readonly HistoryRow[];
  /** Ordered by `number`. */
  attempts: readonly ProvenAttempt[];
};

/** Recomputes the chain: gapless, each link right, ending in the head (P27). What its archive has may be missing. */
export function checkChain({ payout, history }: ProvenEvents): LedgerProblem[] {
  const issues = problems('history', payout.reference);
  const archived = payout.archived_seq ?? 0n;
  let previous = '';
  let last = 0n;
  for (const row of history) {
    const { payout_id, at, event, source, from_state, to_state, detail, prev_hash, hash } = row;
    const seq = last + 1n;
    const isInArchive = row.seq > seq && row.seq <= archived;
    if (row.seq !== seq && !isInArchive) return issues.add({ kind: 'entry_missing', seq, next: row.seq });
    if (isInArchive ? prev_hash === null : prev_hash !== null && prev_hash !== previous)
      return issues.add({ kind: 'entry_unlinked', seq, event });
    last = row.seq;
    const entry = {
      payoutId: payout_id,
      seq: row.seq,
      at,
      event,
      source,
      from: from_state,
      to: to_state,
      detail,
    };
    previous = historyHash(prev_hash ?? previous, entry);
    if (hash !== previous) return issues.add({ kind: 'entry_changed', seq, event });
  }
  if (payout.history_seq !== last) issues.add({ kind: 'entry_count', is: payout.history_seq, entries: last });
  if (payout.history_head !== previous) issues.add({ kind: 'history_head' });
  return issues.list;
}

/** Rebuilds the current row from its history and compares it field by field (P27). */
export function checkProjection({ payout, history }: ProvenEvents): LedgerProblem[] {
  const issues = problems('projection', payout.reference);
  const rebuilt: Record<string, unknown> = { ...fresh };
  let state: HistoryRow['from_state'] = null;
  for (const { seq, event, from_state, to_state, detail } of history) {
    if (from_state !== state)
      issues.add({ kind: 'entry_begins', seq, event, from: from_state, before: state });
    state = to_state;
    const said = readDetail(detail);
    for (const key of Object.keys(said)) if (Object.hasOwn(fresh, key)) rebuilt[key] = said[key];
  }
  if (state !== null && payout.state !== state)
    issues.add({ kind: 'column', column: 'state', is: payout.state, byHistory: state });
  const { name_letters, payee_key } = payeeKeysOf(payout);
  if (payout.name_letters !== name_letters || payout.payee_key !== payee_key)
    issues.add({ kind: 'payee_keys' });
  for (const column of compared) {
    const [is, byHistory] = [plain(payout[column]), rebuilt[column]];
    if (is !== byHistory) issues.add({ kind: 'column', column, is, byHistory });
  }
  return issues.list;
}

/** The columns that `record` changes, with their values at intake. Identity, chain and state are compared separately. */
const fresh = {
  evidence: '',
  attempt_count: 0,
  last_attempt_id: null,
  transfer_id: null,
  trx: null,
  fee: null,
  fee_by: null,
  other_fees: null,
  message: null,
  message_of: null,
  submitted_at: null,
  settled_at: null,
  final_at: null,
  turned_away_until: null,
  withheld_by: null,
  unseen_sends: 0,
  auto_resends: 0,
  turned_run: null,
} satisfies Record<Exclude<keyof Row, 'id' | 'batch_id' | 'state' | 'history_seq' | 'history_head'>, unknown>;

const compared = columns.filter((key) => Object.hasOwn(fresh, key));

/** Checks what the ledger keeps of an archived payout: every attempt, its last state, and that nothing was sent since. */
export function checkArchived({ payout, history, attempts }: ProvenEvents): LedgerProblem[] {
  const issues = problems('archives', payout.reference);
  const last = history.at(-1);
  if (payout.state !== last?.to_state)
    issues.add({ kind: 'last_state', is: payout.state, last: last?.to_state });
  if (BigInt(attempts.length) !== payout.attempt_count)
    issues.add({ kind: 'attempt_count', is: payout.attempt_count, attempts: attempts.length });
  if (history.some(({ seq, event }) => event === 'intent' && seq > (payout.archived_seq ?? 0n)))
    issues.add({ kind: 'sent_archived' });
  return issues.list;
}

const proven = ['accepted', 'refused', 'not_sent', 'turned_away'];

/** Each attempt has its intent, each ended one the entry of its outcome, and each proven outcome an attempt (P1, P4). */
export function checkAttempts({ payout, history, attempts }: ProvenEvents): LedgerProblem[] {
  const issues = problems('attempts', payout.reference);
  const intents = history.filter((row) => row.event === 'intent');
  const begun = new Set(intents.map((row) => readDetail(row.detail).last_attempt_id));
  const outcomes = new Set(history.map((row) => `${row.event} ${row.at}`));
  for (const [i, { id, number, outcome, ended_at, code }] of attempts.entries()) {
    if (number !== BigInt(i + 1)) issues.add({ kind: 'attempt_missing', number: i + 1, next: number });
    if (!begun.has(Number(id))) issues.add({ kind: 'attempt_unintended', number });
    if (outcome === null) continue;
    const event = code === 'abandoned' && outcome === 'unknown' ? 'abandoned' : outcome;
    if (!outcomes.has(`${event} ${ended_at}`))
      issues.add({ kind: 'attempt_outcome', number, outcome, ended_at });
  }
  if (intents.length > attempts.length)
    issues.add({ kind: 'intents', intents: intents.length, attempts: attempts.length });
  for (const { seq, event, at } of history) {
    if (proven.includes(event) && !attempts.some((a) => a.outcome === event && a.ended_at === at))
      issues.add({ kind: 'entry_unattempted', seq, event });
  }
  const isSent = attempts.some(({ outcome }) => outcome !== 'not_sent');
  if (isSent && payout.submitted_at === null) issues.add({ kind: 'never_submitted' });
  if (payout.state === 'sending' && attempts.at(-1)?.outcome !== null) issues.add({ kind: 'not_in_flight' });
  return issues.list;
}

function plain(value: string | bigint | null): string | number | null {
  return typeof value === 'bigint' ? Number(value) : value;
}
