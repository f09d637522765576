import { nameFee } from '../domain/fees.ts';
import type { AttemptOutcome } from '../domain/outcome.ts';
import { longestPauseMs } from '../domain/pause.ts';
import { isFinalState, type WithheldBy } from '../domain/payout.ts';
import {
  type Effect,
  type LedgerEvent,
  mayHaveGoneAgain,
  type PayoutStanding,
  restsOnPerson,
} from '../domain/transition.ts';
import { later } from '../domain/wait.ts';
import type { Witness } from '../domain/witness.ts';
import type { Payout } from '../storage/tables/tables.ts';

/** The columns of a payout that events change; the details in the history rebuild them (P27). */
export const columns = [
  'id',
  'batch_id',
  'state',
  'evidence',
  'attempt_count',
  'last_attempt_id',
  'transfer_id',
  'trx',
  'fee',
  'fee_by',
  'other_fees',
  'message',
  'message_of',
  'submitted_at',
  'settled_at',
  'final_at',
  'turned_away_until',
  'withheld_by',
  'unseen_sends',
  'auto_resends',
  'turned_run',
  'history_seq',
  'history_head',
] as const;

export type Row = Pick<Payout, (typeof columns)[number]>;

/**
 * Applies the effect to the row in memory. Returns the changed fields for the history. `sentAt`: for an outcome, when the
 * first of the attempts began that may have been sent.
 */
export function apply(
  row: Row,
  now: PayoutStanding,
  { event, effect, at, sentAt }: { event: LedgerEvent; effect: Effect; at: string; sentAt: string | null },
): Record<string, unknown> {
  const before = { ...row };
  if (effect.kind === 'move') {
    row.turned_run = null;
    row.state = effect.to;
    row.withheld_by = effect.to === 'held' ? withheldBy(event) : null;
    // A new state clears the day on which money moved; a return keeps it.
    if (isFinalState(now.state) && effect.to !== 'returned') row.settled_at = null;
  }
  if (effect.kind !== 'conflict') {
    row.evidence = effect.evidence;
    learn(row, now, event, at);
    // P7: what never left is no send. A lost copy of the ledger may have sent it (P25).
    if (event.kind === 'outcome' && event.outcome.kind === 'not_sent' && row.unseen_sends === 0n)
      row.submitted_at = sentAt;
    // An unknown payout keeps its reason, even when later look-ups repeat it.
    if (event.kind === 'witness' && row.state === 'unknown' && effect.why !== undefined)
      saysItself(row, effect.why);
    // A payout that was closed before the adoption is not counted by it.
    if (now.forgetful && mayHaveGoneAgain(now) && !mayHaveGoneAgain(row)) row.unseen_sends += 1n;
  }
  if (effect.kind === 'move') row.final_at = isFinalState(effect.to) ? at : null;
  const changed: Record<string, unknown> = {};
  for (const key of columns) {
    const value = row[key];
    if (value !== before[key] && key !== 'state')
      changed[key] = typeof value === 'bigint' ? Number(value) : value;
  }
  // Each decision of a person keeps its note, also one that repeats the words of the decision before.
  if (event.kind === 'settle' && effect.kind === 'move') changed.message = row.message;
  return changed;
}

function withheldBy(event: LedgerEvent): WithheldBy | null {
  return event.kind === 'hold' || event.kind === 'doubted' ? (event.by ?? null) : null;
}

function learn(row: Row, now: PayoutStanding, event: LedgerEvent, at: string): void {
  switch (event.kind) {
    case 'intent':
      row.attempt_count += 1n;
      row.last_attempt_id = event.attemptId;
      row.submitted_at ??= at;
      return;
    case 'outcome':
      learnOutcome(row, event.outcome, at);
      return;
    case 'witness': {
      const { witness } = event;
      // P36: what is shown as paid again has not come back.
      if (witness.status === 'success' && witness.source !== 'webhook') row.turned_run = null;
      row.transfer_id ??= witness.transferId;
      row.trx ??= witness.trx;
      Object.assign(row, nameFee(row, witness.source, witness.fee));
      learnMessage(row, now, witness);
      // The time of a person's decision gives way to the service's own.
      const known = restsOnPerson(now.evidence) && witness.source !== 'webhook' ? null : row.settled_at;
      if (isFinalState(row.state) && witness.status === row.state)
        row.settled_at = known ?? witness.settledAt ?? row.settled_at ?? at;
      return;
    }
    case 'turned':
      if (row.state === 'success') row.turned_run = event.first;
      // P36: what was said of the success, by the service or by a person, does not hold for the return.
      else if (row.state !== now.state) learnMessage(row, now, { ...event.witness, status: 'returned' });
      return;
    case 'abandoned':
      saysItself(row, event.why);
      return;
    case 'retry':
      if (row.state !== now.state) learnDecision(row, event, at);
      return;
    case 'cancel':
      if (row.state === now.state) return;
      saysItself(
        row,
        row.state === 'unknown'
          ? `its retry was ${event.why}; an earlier attempt may have been taken`
          : event.why,
      );
      return;
    case 'settle':
      // A second `settle` replaces the first.
      learnDecision(row, event, at);
      return;
    case 'adopted':
      learnAdoption(row, now, event);
      return;
    case 'doubted':
      if (row.state !== now.state) saysItself(row, event.why);
      return;
    case 'hold':
    case 'release':
      if (row.state !== now.state) saysItself(row, event.kind === 'hold' ? event.why : null);
      return;
    case 'looked_up':
    case 'replaced':
      return;
  }
}

/**
 * Keeps the newest message of the service that still holds. What it said of another status does not hold once the payout
 * has ended: no "queued" stands beside a final state.
 */
function learnMessage(row: Row, now: PayoutStanding, { message, status }: Witness): void {
  const hasEnded = isFinalState(row.state);
  if (message !== null && (!hasEnded || status === row.state)) {
    row.message = message;
    row.message_of = status;
    return;
  }
  const isOver = hasEnded
    ? row.state !== now.state && row.message_of !== row.state
    : // The service's own witness replaces the message of a lost answer, or of a person.
      now.state === 'unknown' || overturned(row, now);
  if (isOver) saysItself(row, null);
}

/** Sets a message that is not what the service said of the transfer. */
function saysItself(row: Row, message: string | null): void {
  row.message = message;
  row.message_of = null;
}

function overturned(row: Row, now: PayoutStanding): boolean {
  return row.state !== now.state && restsOnPerson(now.evidence);
}

type Decision = Extract<LedgerEvent, { kind: 'retry' | 'settle' }>;

function learnDecision(row: Row, event: Decision, at: string): void {
  saysItself(row, event.kind === 'settle' ? event.note : event.why);
  if (event.kind === 'retry') {
    row.turned_away_until = null;
    row.auto_resends += event.automatic ? 1n : 0n;
  }
  if (event.kind === 'settle') {
    // It no longer waits to be sent.
    row.turned_away_until = null;
    if (event.as === 'success') row.settled_at = at;
  }
}

/**
 * Applies an adoption: the lost copy may have sent the payout for the first time, or once more after a decision (P25).
 */
function learnAdoption(
  row: Row,
  now: PayoutStanding,
  event: Extract<LedgerEvent, { kind: 'adopted' }>,
): void {
  if (row.state !== 'unknown') return;
  if (row.state !== now.state) saysItself(row, event.why);
  row.submitted_at ??= event.since;
  if (mayHaveGoneAgain(now)) row.unseen_sends += 1n;
}

function learnOutcome(row: Row, outcome: AttemptOutcome, at: string): void {
  // A late answer says nothing of how the payout ended.
  if (!isFinalState(row.state)) {
    row.message = outcome.message;
    row.message_of = outcome.kind === 'accepted' ? 'pending' : null;
  }
  if (outcome.kind === 'accepted') row.transfer_id ??= outcome.transferId;
  if (outcome.kind === 'turned_away')
    row.turned_away_until = outcome.retryAfterMs === null ? null : later(at, outcome.retryAfterMs);
}

/** Returns the latest instant until which a payout that was turned away at `at` may have to wait, ISO UTC. */
export function farAhead(at: string): string {
  return later(at, longestPauseMs);
}

export type RecordEvent = { payoutId: bigint; source: string; event: LedgerEvent };
