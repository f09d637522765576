import { payeeKeysOf } from '../core/domain/payee-name.ts';
import { historyHash, readDetail } from '../core/ledger/history.ts';
import { columns, type Row } from '../core/ledger/projection.ts';
import type { Attempt, HistoryRow, Payout } from '../core/storage/tables/tables.ts';

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

export type FalsePayout = { check: CheckName; problem: string };

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
export function checkChain({ payout, history }: ProvenEvents): FalsePayout[] {
  const issues = problems('history', payout.reference);
  const archived = payout.archived_seq ?? 0n;
  let previous = '';
  let last = 0n;
  for (const row of history) {
    const { payout_id, at, event, source, from_state, to_state, detail, prev_hash, hash } = row;
    const seq = last + 1n;
    const isInArchive = row.seq > seq && row.seq <= archived;
    if (row.seq !== seq && !isInArchive)
      return issues.add(`history entry ${seq} is missing (the next is ${row.seq})`);
    if (isInArchive ? prev_hash === null : prev_hash !== null && prev_hash !== previous)
      return issues.add(`history entry ${seq} (${row.event}) does not follow the one before it: prev_hash`);
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
    if (hash !== previous)
      return issues.add(
        `history entry ${seq} (${row.event}) was changed: its hash is not that of its fields`,
      );
  }
  if (payout.history_seq !== last)
    issues.add(`history_seq is ${payout.history_seq}, its history has ${last} entries`);
  if (payout.history_head !== previous) issues.add('history_head is not the hash of its last history entry');
  return issues.list;
}

/** Rebuilds the current row from its history and compares it field by field (P27). */
export function checkProjection({ payout, history }: ProvenEvents): FalsePayout[] {
  const issues = problems('projection', payout.reference);
  const rebuilt: Record<string, unknown> = { ...fresh };
  let state: string | null = null;
  for (const { seq, event, from_state, to_state, detail } of history) {
    if (from_state !== state)
      issues.add(`history entry ${seq} (${event}) begins at ${from_state}, the one before ended at ${state}`);
    state = to_state;
    const said = readDetail(detail);
    for (const key of Object.keys(said)) if (Object.hasOwn(fresh, key)) rebuilt[key] = said[key];
  }
  if (state !== null && payout.state !== state)
    issues.add(`state is "${payout.state}", by its history it is "${state}"`);
  const { name_letters, payee_key } = payeeKeysOf(payout);
  if (payout.name_letters !== name_letters || payout.payee_key !== payee_key)
    issues.add('the keys of its payee are not those of its name and payee_id');
  for (const key of compared) {
    const is = plain(payout[key]);
    if (is !== rebuilt[key])
      issues.add(`${key} is ${JSON.stringify(is)}, by its history it is ${JSON.stringify(rebuilt[key])}`);
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
export function checkArchived({ payout, history, attempts }: ProvenEvents): FalsePayout[] {
  const issues = problems('archives', payout.reference);
  const last = history.at(-1);
  if (payout.state !== last?.to_state)
    issues.add(`state is "${payout.state}", by its last entry it is "${last?.to_state ?? 'nothing'}"`);
  if (BigInt(attempts.length) !== payout.attempt_count)
    issues.add(`attempt_count is ${payout.attempt_count}, and it has ${attempts.length} attempts`);
  if (history.some(({ seq, event }) => event === 'intent' && seq > (payout.archived_seq ?? 0n)))
    issues.add('it was sent after it was archived');
  return issues.list;
}

const proven = ['accepted', 'refused', 'not_sent', 'turned_away'];

/** Each attempt has its intent, each ended one the entry of its outcome, and each proven outcome an attempt (P1, P4). */
export function checkAttempts({ payout, history, attempts }: ProvenEvents): FalsePayout[] {
  const issues = problems('attempts', payout.reference);
  const intents = history.filter((row) => row.event === 'intent');
  const begun = new Set(intents.map((row) => readDetail(row.detail).last_attempt_id));
  const outcomes = new Set(history.map((row) => `${row.event} ${row.at}`));
  for (const [i, { id, number, outcome, ended_at, code }] of attempts.entries()) {
    if (number !== BigInt(i + 1)) issues.add(`attempt ${i + 1} is missing (the next is ${number})`);
    if (!begun.has(Number(id))) issues.add(`attempt ${number} has no intent in its history`);
    if (outcome === null) continue;
    const event = code === 'abandoned' && outcome === 'unknown' ? 'abandoned' : outcome;
    if (!outcomes.has(`${event} ${ended_at}`))
      issues.add(
        `attempt ${number} has outcome ${outcome} at ${ended_at}, which its history does not contain`,
      );
  }
  if (intents.length > attempts.length)
    issues.add(`${intents.length} intents in its history, but ${attempts.length} attempts`);
  for (const { seq, event, at } of history) {
    if (proven.includes(event) && !attempts.some((a) => a.outcome === event && a.ended_at === at))
      issues.add(`history entry ${seq} (${event}) belongs to no attempt`);
  }
  const isSent = attempts.some(({ outcome }) => outcome !== 'not_sent');
  if (isSent && payout.submitted_at === null)
    issues.add('submitted_at is empty, although an attempt may have left');
  if (payout.state === 'sending' && attempts.at(-1)?.outcome !== null)
    issues.add('state is "sending", but no attempt is in flight');
  return issues.list;
}

function plain(value: string | bigint | null): string | number | null {
  return typeof value === 'bigint' ? Number(value) : value;
}

export function problems(check: CheckName, reference: string) {
  const list: FalsePayout[] = [];
  return {
    list,
    add(problem: string): FalsePayout[] {
      list.push({ check, problem: `${reference}: ${problem}` });
      return list;
    },
  };
}

/** Problems of the ledger as a whole under one check. */
export function foundIn(check: CheckName, list: readonly string[]): FalsePayout[] {
  return list.map((problem) => ({ check, problem }));
}
