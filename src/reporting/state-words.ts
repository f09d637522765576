import type { PayoutState } from '../domain/payout.ts';

export const stateWords: Record<PayoutState, string> = {
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
};
