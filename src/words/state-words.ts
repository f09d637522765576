import type { CountedState } from '../core/domain/payout.ts';

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
