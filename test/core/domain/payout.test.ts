import { expect, it } from 'vitest';
import {
  batchState,
  countByState,
  hasComeToNothing,
  isReplaced,
  type PayoutState,
  payoutStates,
} from '../../../src/core/domain/payout.ts';

it('a batch is what its payouts are: cancelled, held, ready, sending, sent, done, in this order', () => {
  const of = (counts: Partial<Record<PayoutState, number>>) => batchState('loaded', counts);
  expect(batchState('loading', { success: 1 })).toBe('loading');
  expect(batchState('cancelled', { success: 1 })).toBe('cancelled');
  expect(of({})).toBe('ready');
  expect([of({ cancelled: 1 }), of({ cancelled: 2 }), of({ cancelled: 1, success: 1 })]).toEqual([
    ...['cancelled', 'cancelled', 'done'],
  ]);
  expect([of({ held: 1, ready: 1 }), of({ ready: 2 }), of({ ready: 1, success: 1 })]).toEqual([
    ...['held', 'ready', 'sending'],
  ]);
  expect([of({ sending: 1 }), of({ pending: 1, success: 1 }), of({ unknown: 1 })]).toEqual([
    ...['sending', 'sent', 'sent'],
  ]);
  expect([of({ success: 1 }), of({ failed: 1, returned: 1 })]).toEqual(['done', 'done']);
});

it('counts groups of payouts by their state alone', () => {
  const groups = [
    { state: 'success' as const, n: 2n },
    { state: 'failed' as const, n: 1n },
    { state: 'success' as const, n: 3n },
  ];
  expect(countByState(groups)).toEqual({ success: 5, failed: 1 });
});

it('a payout came to nothing that failed, was refused or returned; a replaced one is none of its states', () => {
  expect(payoutStates.filter(hasComeToNothing)).toEqual(['failed', 'refused', 'returned']);
  expect([...payoutStates, 'paid_again', 'waits_again', 'failed_again'].filter(isReplaced)).toEqual([
    ...['paid_again', 'waits_again', 'failed_again'],
  ]);
});
