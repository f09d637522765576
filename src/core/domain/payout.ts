/** The two modes of the service. Every row, key, reference and halt belongs to exactly one (P24). */
export const modes = ['test', 'live'] as const;
export type Mode = (typeof modes)[number];

/** Payout states; the README draws the diagram. */
export const payoutStates = [
  'held',
  'ready',
  'sending',
  'pending',
  'success',
  'failed',
  'refused',
  'unknown',
  'cancelled',
  'returned',
] as const;
export type PayoutState = (typeof payoutStates)[number];

/** The states that a payout leaves again. */
export const openStates = ['held', 'ready', 'sending', 'pending', 'unknown'] as const;

/** The states in which the transfer has ended: paid, failed, or returned after success. */
const finalStates: readonly PayoutState[] = ['success', 'failed', 'returned'];

/** The states of a payout that came to nothing, so that it may be paid again (P20). */
export const cameToNothing = ['failed', 'refused', 'returned'] as const satisfies readonly PayoutState[];

export function hasComeToNothing(state: PayoutState | null): state is (typeof cameToNothing)[number] {
  return cameToNothing.some((one) => one === state);
}

export function isFinalState(state: PayoutState): boolean {
  return finalStates.includes(state);
}

/**
 * How a payout that came to nothing counts while a successor that was not cancelled pays it again (P20): as paid again,
 * as waiting, or as failed again. Its money counts once, with the last successor.
 */
export const replacedStates = ['paid_again', 'waits_again', 'failed_again'] as const;
export type ReplacedState = (typeof replacedStates)[number];
/** How a payout counts in totals: its state, unless a successor pays it again. */
export type CountedState = PayoutState | ReplacedState;
export const countedStates: readonly CountedState[] = [...payoutStates, ...replacedStates];

/** How it counts by the state of the last successor. */
export const replacedAs: Record<PayoutState, ReplacedState> = {
  held: 'waits_again',
  ready: 'waits_again',
  sending: 'waits_again',
  pending: 'waits_again',
  unknown: 'waits_again',
  success: 'paid_again',
  failed: 'failed_again',
  refused: 'failed_again',
  returned: 'failed_again',
  cancelled: 'failed_again',
};

export function isReplaced(state: string): state is ReplacedState {
  return replacedStates.some((one) => one === state);
}

/** Counts groups of payouts by their state alone. */
export function countByState(
  groups: readonly { state: PayoutState; n: bigint }[],
): Partial<Record<PayoutState, number>> {
  const counts: Partial<Record<PayoutState, number>> = {};
  for (const { state, n } of groups) counts[state] = (counts[state] ?? 0) + Number(n);
  return counts;
}

/** Where a payout's money stands: paid, open (it may still be paid), or ended without payment. */
export const moneyStanding: Record<CountedState, 'paid' | 'open' | 'ended'> = {
  held: 'open',
  ready: 'open',
  sending: 'open',
  pending: 'open',
  success: 'paid',
  failed: 'ended',
  refused: 'ended',
  unknown: 'open',
  cancelled: 'ended',
  returned: 'ended',
  paid_again: 'ended',
  waits_again: 'ended',
  failed_again: 'ended',
};

/** Batch states; all except `loading` and `cancelled` follow from the states of the payouts. */
export const batchStates = ['loading', 'held', 'ready', 'sending', 'sent', 'done', 'cancelled'] as const;
export type BatchState = (typeof batchStates)[number];

/** The sources of facts about a payout, in the order in which `evidence` lists them. */
export const sources = ['response', 'webhook', 'listing', 'details', 'person'] as const;
export type RecordSource = (typeof sources)[number];
/** Those that can make a payout final (P14). */
export const provingSources = ['listing', 'details'] as const satisfies readonly RecordSource[];

/** What a witness says about a transfer (P13); `returned` is a reversal or refund after success. */
export const witnessStatuses = ['pending', 'success', 'failed', 'returned'] as const;
export type WitnessStatus = (typeof witnessStatuses)[number];

/**
 * What holds a payout that was about to be sent. `list`, `details`, `webhook`: it shows a transfer under the reference.
 * `predecessor`: the payout that it pays again may have been paid. `limit`: it is above a whole day's limit. `answer`:
 * the service's answer before a retry speaks against it.
 */
export type WithheldBy = 'list' | 'details' | 'webhook' | 'predecessor' | 'limit' | 'answer';

/** True if an evidence text such as `response+listing` names this source. */
export function restsOn(evidence: string, source: RecordSource): boolean {
  return evidence.split('+').includes(source);
}

/** Adds a source to an evidence text, keeping the order of {@link sources}. */
export function addEvidence(evidence: string, source: RecordSource): string {
  return sources.filter((one) => one === source || restsOn(evidence, one)).join('+');
}

/** Derives a batch's state from its phase and the states of its payouts. */
export function batchState(
  phase: 'loading' | 'loaded' | 'cancelled',
  counts: Partial<Record<PayoutState, number>>,
): BatchState {
  if (phase !== 'loaded') return phase;
  const n = (state: PayoutState): number => counts[state] ?? 0;
  const total = payoutStates.reduce((sum, state) => sum + n(state), 0);
  if (total > 0 && n('cancelled') === total) return 'cancelled';
  if (n('held') > 0) return 'held';
  if (n('ready') === total) return 'ready';
  if (n('ready') + n('sending') > 0) return 'sending';
  if (n('pending') + n('unknown') > 0) return 'sent';
  return 'done';
}
