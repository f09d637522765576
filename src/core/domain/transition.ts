import { contradictionText } from './contradiction.ts';
import { type AttemptOutcome, lacksTransfers } from './outcome.ts';
import type { PayoutState, RecordSource, WithheldBy } from './payout.ts';
import { addEvidence, hasComeToNothing, isFinalState, provingSources, restsOn, sources } from './payout.ts';
import type { Witness } from './witness.ts';

export type LedgerEvent =
  | { kind: 'intent'; attemptId: bigint }
  | { kind: 'outcome'; attemptId: bigint; outcome: AttemptOutcome }
  | { kind: 'abandoned'; attemptId: bigint; why: string }
  /** `askedIn`: the state of the payout when the service was asked; absent where nobody asked, or it does not matter. */
  | { kind: 'witness'; witness: Witness; askedIn?: PayoutState }
  /**
   * The details and a complete list of one run both say failed of a paid payout (P36). `first`: the run that saw it so
   * first. `sure`: that run is long enough ago.
   */
  | { kind: 'turned'; witness: Witness; first: string; sure: boolean }
  | { kind: 'looked_up'; found: boolean }
  | { kind: 'hold'; why: string; by?: WithheldBy }
  | { kind: 'release' }
  | { kind: 'cancel'; why: string }
  /** Sends an unknown payout again under its reference, as decided (P20). `automatic`: absence was confirmed (P16). */
  | { kind: 'retry'; to: 'ready' | 'held'; automatic: boolean; why: string }
  /** New evidence arrived before a payout was sent again: the decision to send it rested on older evidence (P20). */
  | { kind: 'doubted'; why: string; by?: WithheldBy }
  /** A person closes it (P32). `contradicted`: other evidence speaks against the one that made it final. */
  | { kind: 'settle'; as: 'success' | 'failed'; note: string; contradicted?: boolean }
  /** A successor under a new reference was made of it (P20), or follows it where it is a cancelled successor itself. */
  | { kind: 'replaced'; by: string }
  /** The ledger went back in time: sends since `since` (ISO UTC) may be missing from it (P25). */
  | { kind: 'adopted'; since: string; why: string };

/** The part of a payout that decides the effect of an event. */
export type PayoutStanding = {
  state: PayoutState;
  evidence: string;
  /** Nothing of it was ever sent: every attempt is proven not sent (P7), and no lost copy may have sent it (P25). */
  isNeverSent: boolean;
  /** True if an attempt other than the event's own may have been taken: accepted, unknown or in flight (P4). */
  otherAttemptOpen: boolean;
  /** True if an attempt other than the event's own is in flight: its answer decides, not a late answer to this one. */
  otherUnderWay: boolean;
  /** POSTs that the service may have taken, including the event's own and forgotten ones (P25). */
  possiblyTaken: number;
  /** A lost copy of the ledger may have sent one of them, perhaps more than once (P25). */
  forgotten?: boolean;
  /** The ledger went back in time and is not adopted yet: it may have sent this more often than it records (P25). */
  forgetful: boolean;
  /** The id it was accepted under, if this witness names only other transfers: that one may still settle (P17). */
  unshown?: string;
};

/** `keep`: recorded in the history, state unchanged. `conflict`: a discrepancy for a person, state unchanged. */
export type Effect =
  | { kind: 'move'; to: PayoutState; evidence: string; why?: string }
  | { kind: 'keep'; evidence: string; why: string }
  | { kind: 'conflict'; why: string };

/** The whole life of a payout, total. Late, repeated or reordered events end in the same state as ordered ones. */
export function transition(now: PayoutStanding, event: LedgerEvent): Effect {
  switch (event.kind) {
    case 'intent':
      return now.state === 'ready'
        ? move(now, 'sending')
        : { kind: 'conflict', why: `no intent from ${now.state}` };
    case 'outcome':
      return onOutcome(now, event.outcome);
    case 'abandoned':
      return now.state === 'sending' && !now.otherUnderWay ? move(now, 'unknown') : keep(now, event.why);
    case 'witness':
      return onWitness(now, event);
    case 'turned':
      return onTurned(now, event);
    // P16: a transfer that was not found may still have been sent.
    case 'looked_up':
      return keep(
        now,
        event.found ? 'a look-up found it' : 'a look-up did not find it; absence proves nothing',
      );
    case 'hold':
      return now.state === 'ready' ? move(now, 'held') : keep(now, `not held: already ${now.state}`);
    case 'release':
      return now.state === 'held' ? move(now, 'ready') : keep(now, `not released: ${now.state}`);
    case 'cancel':
      return onCancel(now);
    case 'retry':
      return now.state === 'unknown'
        ? move(now, event.to)
        : { kind: 'conflict', why: `no retry from ${now.state}` };
    case 'doubted':
      return onDoubt(now, event.why);
    case 'settle':
      return onSettle(now, event);
    case 'replaced':
      return hasComeToNothing(now.state) || now.state === 'cancelled'
        ? keep(now, `ordered again as ${event.by}`)
        : { kind: 'conflict', why: `no successor of ${now.state}` };
    case 'adopted':
      return forgettable.includes(now.state)
        ? { kind: 'move', to: 'unknown', evidence: '' }
        : keep(now, event.why);
  }
}

/** The states that a newer copy of the ledger may have left by a send that this one does not record (P25). */
export const forgettable: readonly PayoutState[] = ['ready', 'held', 'sending', 'failed', 'refused'];

/** True if a newer copy may have sent it again, so that one more send must be counted (P17, P25). */
export function mayHaveGoneAgain({ state, evidence }: Pick<PayoutStanding, 'state' | 'evidence'>): boolean {
  // A payout that the service failed is repeated under another reference, if at all.
  if (state === 'failed') return restsOn(evidence, 'person');
  return state === 'unknown' || forgettable.includes(state);
}

/** P32: a person may close what evidence has not made final; a request in flight may still be answered. */
function onSettle(now: PayoutStanding, event: Extract<LedgerEvent, { kind: 'settle' }>): Effect {
  if (now.state === 'sending' || now.otherUnderWay)
    return { kind: 'conflict', why: 'not settled: an attempt is under way' };
  if (isFinalByEvidence(now) && event.contradicted !== true)
    return { kind: 'conflict', why: `not settled: evidence made it ${now.state}` };
  // P36: what the service has shown as paid stays so until it is surely returned; one later list does not fail it.
  const wasPaid = event.as === 'success' && (now.state === 'success' || now.state === 'returned');
  return { kind: 'move', to: event.as, evidence: wasPaid ? addEvidence(now.evidence, 'person') : 'person' };
}

/** True where evidence, not only a person, says that it has ended. */
export function isFinalByEvidence({ state, evidence }: Pick<PayoutStanding, 'state' | 'evidence'>): boolean {
  if (state === 'refused' || state === 'cancelled') return true;
  return isFinalState(state) && !restsOnPerson(evidence);
}

/** True where only a person's decision closes it (P32). */
export function isClosedByPerson({ state, evidence }: Pick<PayoutStanding, 'state' | 'evidence'>): boolean {
  return isFinalState(state) && restsOnPerson(evidence);
}

/**
 * P21: cancels what was never sent. Of a payout that waits to be sent again only the new send is cancelled: an earlier
 * attempt may have been taken, so that it is unknown again.
 */
function onCancel(now: PayoutStanding): Effect {
  if (now.state !== 'ready' && now.state !== 'held') return keep(now, `not cancelled: ${now.state}`);
  return move(now, now.possiblyTaken > 0 ? 'unknown' : 'cancelled');
}

/** P19: a payout that may have been taken becomes unknown, for a person to close; otherwise it is only held. */
function onDoubt(now: PayoutStanding, why: string): Effect {
  if (now.state !== 'ready' && now.state !== 'held') return keep(now, `not taken back: ${now.state}`);
  if (now.possiblyTaken > 0) return move(now, 'unknown');
  return now.state === 'ready' ? move(now, 'held') : keep(now, why);
}

function onOutcome(now: PayoutStanding, outcome: AttemptOutcome): Effect {
  const undecided = now.state === 'sending' || now.state === 'unknown';
  if (now.otherUnderWay && outcome.kind !== 'accepted')
    return keep(now, `${outcome.kind} of one attempt; another is under way`);
  switch (outcome.kind) {
    case 'accepted':
      if (undecided || now.state === 'ready' || now.state === 'held') return move(now, 'pending', 'response');
      // P19: the service's own acceptance is later evidence than a person's "not paid".
      if (now.state === 'failed' && restsOnPerson(now.evidence))
        return move({ ...now, evidence: '' }, 'pending', 'response');
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

type WitnessEvent = Extract<LedgerEvent, { kind: 'witness' }>;

function onWitness(now: PayoutStanding, event: WitnessEvent): Effect {
  const { witness } = event;
  const proves = witness.source !== 'webhook';
  switch (now.state) {
    case 'held':
    case 'ready':
      return now.isNeverSent ? contradiction(now, witness) : settle(now, witness);
    case 'cancelled':
      return contradiction(now, witness);
    case 'sending':
    case 'unknown':
    case 'pending':
      return settle(now, witness);
    case 'refused':
      return proves ? settle(now, witness) : contradiction(now, witness);
    case 'success':
    case 'failed':
    case 'returned':
      return onFinal(now, event);
  }
}

/**
 * P14: a final state needs details or listing; a webhook only shows that the transfer exists. P17: the payout has ended
 * only when every send that may have been taken has. A ledger that went back in time cannot count them (P25).
 */
function settle(now: PayoutStanding, witness: Witness): Effect {
  const { source, status } = witness;
  if (status === 'pending' || source === 'webhook') {
    return now.state === 'pending'
      ? keep(now, `${source} says ${status}`, source)
      : move(now, 'pending', source);
  }
  const over = status === 'failed' || status === 'returned';
  const it = `${source} shows a ${status} transfer, but`;
  if (over && now.forgetful)
    return keep(now, `${it} the ledger went back in time: another may have been sent`);
  const many = now.possiblyTaken > 1 ? now.possiblyTaken : 'several';
  if (over && lacksTransfers(now, witness)) return notOver(now, `${it} ${many} may have been taken`);
  if (over && now.unshown !== undefined) return notOver(now, whyUnshown(now, witness));
  return move(now, status, source);
}

/** One transfer has ended and no other is known: a person must decide, as with every unknown payout. */
function notOver(now: PayoutStanding, why: string): Effect {
  const stays = now.state === 'sending' || now.state === 'unknown';
  return stays ? keep(now, why) : { ...move(now, 'unknown'), why };
}

function whyUnshown({ unshown }: PayoutStanding, { source, status }: Witness): string {
  return `${source} shows only another transfer, ${status}; the one it was accepted as, ${unshown}, may still settle`;
}

function onFinal(now: PayoutStanding, { witness, askedIn }: WitnessEvent): Effect {
  const { source, status } = witness;
  const proves = source !== 'webhook';
  const isPersons = proves && restsOnPerson(now.evidence);
  // P36: the service shows a return as failed.
  if (status === now.state || (now.state === 'returned' && status === 'failed')) {
    if (now.unshown !== undefined) return keep(now, whyUnshown(now, witness));
    // P17: one failed transfer of several does not prove what a person said of all.
    const proven = !isPersons || status === 'success' || !(now.forgetful || lacksTransfers(now, witness));
    return keep(now, `${source} agrees`, proven ? source : undefined);
  }
  if (isPersons) {
    const effect = settle({ ...now, evidence: '' }, witness);
    // What changes nothing leaves it resting on that decision.
    return effect.kind === 'keep' ? keep(now, effect.why) : effect;
  }
  if (status === 'pending') return keep(now, `a late pending from ${source}`);
  if (now.state === 'success' && status === 'returned' && proves) {
    // P17: a transfer that a complete list lacks may still be paid: a person decides.
    if (witness.transfers !== undefined && lacksTransfers(now, witness)) return contradiction(now, witness);
    return lacksTransfers(now, witness) || now.forgetful || now.unshown !== undefined
      ? keep(now, `${source} shows one transfer returned of several sent`)
      : move(now, 'returned', source);
  }
  // An answer that was asked for before the return, and any webhook, may be older than it.
  if (now.state === 'returned' && status === 'success' && (!proves || askedIn !== 'returned'))
    return keep(now, `${source} may show the success before the return`);
  // P14 would allow the move on such a word; list and details come from one book, so that a person looks at it first.
  return contradiction(now, witness);
}

/**
 * P36: the service has no status for a return and shows it as failed. P17: of several sends each must have failed, and
 * the transfer that was accepted must be among those shown.
 */
function onTurned(now: PayoutStanding, { witness, sure }: Extract<LedgerEvent, { kind: 'turned' }>): Effect {
  if (now.state !== 'success') return keep(now, `not returned: already ${now.state}`);
  if (now.forgetful || lacksTransfers(now, witness) || now.unshown !== undefined)
    return contradiction(now, witness);
  if (!sure) return keep(now, 'list and details say failed; a later run must say so too');
  return { kind: 'move', to: 'returned', evidence: 'listing+details' };
}

function contradiction({ state }: PayoutStanding, { source, status }: Witness): Effect {
  const why = contradictionText({ kind: 'against_ledger', source, said: status, state });
  return { kind: 'conflict', why };
}

/** True for a final state that rests on a person alone: later evidence reopens it (P19). */
export function restsOnPerson(evidence: string): boolean {
  return restsOn(evidence, 'person') && !provingSources.some((source) => restsOn(evidence, source));
}

/** Every evidence that rests on a person alone, as the ledger stores it. */
export const personAlone: readonly string[] = sources
  .reduce((all, source) => all.concat(all.map((one) => addEvidence(one, source))), [''])
  .filter(restsOnPerson);

function move(now: PayoutStanding, to: PayoutState, source?: RecordSource): Effect {
  // Sources that agreed with the success say nothing about the return.
  const agreeing = to === 'returned' ? '' : now.evidence;
  return { kind: 'move', to, evidence: source ? addEvidence(agreeing, source) : agreeing };
}

function keep(now: PayoutStanding, why: string, source?: RecordSource): Effect {
  return { kind: 'keep', why, evidence: source ? addEvidence(now.evidence, source) : now.evidence };
}
