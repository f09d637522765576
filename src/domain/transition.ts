import type { Outcome } from './outcome.ts';
import { addEvidence, type PayoutState, type Source, type WitnessStatus } from './payout.ts';

/** What a source says of one transfer that was checked to be ours (P13, P15). */
export type Witness = {
  source: Exclude<Source, 'response'>;
  status: WitnessStatus;
  transferId: string | null;
  trx: string | null;
  fee: string | null;
  message: string | null;
  /** When the service says it settled or last changed, ISO UTC; null when it does not say. */
  settledAt: string | null;
};

export type PayoutEvent =
  | { kind: 'intent'; attemptId: bigint }
  | { kind: 'outcome'; attemptId: bigint; outcome: Outcome }
  | { kind: 'abandoned'; attemptId: bigint; why: string }
  | { kind: 'witness'; witness: Witness }
  | { kind: 'looked_up'; found: boolean }
  | { kind: 'hold'; why: string }
  | { kind: 'release' };

/** The part of a payout that decides what an event does to it. */
export type Standing = {
  state: PayoutState;
  evidence: string;
  attemptCount: number;
  /** True when some attempt other than the event's own may have been taken: accepted, unknown or still under way (P4). */
  otherAttemptOpen: boolean;
  transferId: string | null;
};

/** `keep`: recorded in history, state unchanged. `conflict`: a discrepancy for a person, state unchanged. */
export type Effect =
  | { kind: 'move'; to: PayoutState; evidence: string }
  | { kind: 'keep'; evidence: string; why: string }
  | { kind: 'conflict'; why: string };

/**
 * The whole life of a payout in one total function: no event in any state throws, and late, repeated or reordered
 * events end where the ordered ones would.
 */
export function transition(now: Standing, event: PayoutEvent): Effect {
  switch (event.kind) {
    case 'intent':
      return now.state === 'ready'
        ? move(now, 'sending')
        : { kind: 'conflict', why: `no intent from ${now.state}` };
    case 'outcome':
      return onOutcome(now, event.outcome);
    case 'abandoned':
      return now.state === 'sending' ? move(now, 'unknown') : keep(now, event.why);
    case 'witness':
      return onWitness(now, event.witness);
    case 'looked_up':
      return keep(
        now,
        event.found ? 'a look-up found it' : 'a look-up did not find it; absence proves nothing (P16)',
      );
    case 'hold':
      return now.state === 'ready' ? move(now, 'held') : keep(now, `not held: already ${now.state}`);
    case 'release':
      return now.state === 'held' ? move(now, 'ready') : keep(now, `not released: ${now.state}`);
  }
}

function onOutcome(now: Standing, outcome: Outcome): Effect {
  const undecided = now.state === 'sending' || now.state === 'unknown';
  switch (outcome.kind) {
    case 'accepted':
      if (undecided || now.state === 'ready' || now.state === 'held') return move(now, 'pending', 'response');
      return now.state === 'refused' || now.state === 'cancelled'
        ? { kind: 'conflict', why: `the service accepted what the ledger holds as ${now.state}` }
        : keep(now, 'a late acceptance', 'response');
    case 'refused':
      if (!undecided) return keep(now, 'a refusal of one attempt; another decided');
      return move(now, now.otherAttemptOpen ? 'unknown' : 'refused', 'response');
    case 'not_sent':
    case 'turned_away':
      if (!undecided) return keep(now, 'one attempt was not taken; another decided');
      return move(now, now.otherAttemptOpen ? 'unknown' : 'ready');
    case 'unknown':
      return now.state === 'sending' ? move(now, 'unknown') : keep(now, 'one attempt ended unknown');
  }
}

function onWitness(now: Standing, { source, status }: Witness): Effect {
  const proves = source !== 'webhook';
  switch (now.state) {
    case 'held':
    case 'ready':
      if (now.attemptCount === 0)
        return { kind: 'conflict', why: 'the service shows a transfer that was never sent' };
      return settle(now, status, source, proves);
    case 'cancelled':
      return { kind: 'conflict', why: 'the service shows a transfer that was cancelled before it was sent' };
    case 'sending':
    case 'unknown':
    case 'pending':
      return settle(now, status, source, proves);
    case 'refused':
      return proves
        ? settle(now, status, source, proves)
        : { kind: 'conflict', why: 'a webhook for a refused payout' };
    case 'success':
    case 'failed':
    case 'returned':
      return onFinal(now, status, source);
  }
}

/** P14: final needs details or listing (or a person); a webhook only shows that the transfer exists. */
function settle(now: Standing, status: WitnessStatus, source: Source, proves: boolean): Effect {
  if (status === 'pending' || !proves) {
    return now.state === 'pending'
      ? keep(now, `${source} says ${status}`, source)
      : move(now, 'pending', source);
  }
  return move(now, status, source);
}

function onFinal(now: Standing, status: WitnessStatus, source: Source): Effect {
  if (status === now.state) return keep(now, `${source} agrees`, source);
  if (status === 'pending') return keep(now, `a late pending from ${source}`);
  if (now.state === 'success' && status === 'returned' && source !== 'webhook')
    return move(now, 'returned', source);
  if (now.state === 'returned' && status === 'success')
    return keep(now, `${source} still shows the success before the return`);
  return { kind: 'conflict', why: `${source} says ${status}, the ledger says ${now.state}` };
}

function move(now: Standing, to: PayoutState, source?: Source): Effect {
  const fresh = to === 'success' || to === 'failed' || to === 'returned' ? agreeing(now, to) : now.evidence;
  return { kind: 'move', to, evidence: source ? addEvidence(fresh, source) : fresh };
}

/** Which earlier sources still agree once the state is final: the acceptance always, the rest only as they speak again. */
function agreeing(now: Standing, to: PayoutState): string {
  if (to === 'returned') return '';
  return now.evidence;
}

function keep(now: Standing, why: string, source?: Source): Effect {
  return { kind: 'keep', why, evidence: source ? addEvidence(now.evidence, source) : now.evidence };
}
