import type { CountedState, PayoutState } from '../core/domain/payout.ts';

export const stateWords: Record<CountedState, string> = {
  held: 'held',
  ready: 'waiting',
  sending: 'sending',
  pending: 'pending',
  success: 'paid',
  failed: 'failed',
  refused: 'refused',
  unknown: 'unknown',
  cancelled: 'cancelled',
  returned: 'returned',
  paid_again: 'paid again',
  waits_again: 'waiting under a new reference',
  failed_again: 'failed again',
};

/** What another reference is to a payout that it pays again: ordered, and paid once it is in this state. */
export function againWords(successor: PayoutState | null): string {
  return successor === 'success' ? 'paid again as' : 'ordered again as';
}
