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

/** What a person does where only a person has said that a payout was not paid, so that `retry` refuses it (P32). */
export const newFileText =
  'What only a person has settled as not paid cannot be paid again from here. Pay it in a new file, under a new reference, once the service confirms in writing that it was not paid.';

/** What another reference is to a payout that it pays again: ordered, and paid once it is in this state. */
export function againWords(successor: PayoutState | null): string {
  return successor === 'success' ? 'paid again as' : 'ordered again as';
}
