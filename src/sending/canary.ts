import type { PayoutState } from '../core/domain/payout.ts';
import type { CanaryFailure } from './halt.ts';

/** The state of a canary: the first payouts of a batch, which are sent before the rest. */
export type CanaryStanding = {
  /** How many are in each state. */
  counts: Partial<Record<PayoutState, number>>;
  /** The first that went wrong, when one did. */
  bad: { reference: string; state: PayoutState } | null;
  /** The first that was sent more than `canary_hours` ago and has not settled. */
  overdue: string | null;
  /** The first that must not be sent, for longer than a canary may take: the rest would wait for ever. */
  withheld?: string | null;
};

export type CanaryResult =
  | { kind: 'waits' }
  | { kind: 'passed' }
  /** None of it was paid and none is left to settle: other payouts must go first. */
  | { kind: 'void' }
  /** `isOpen`: the outcome of the payout is not known. */
  | { kind: 'failed'; failure: CanaryFailure; isOpen: boolean };

/**
 * Judges a canary (P21). It passes when every payout of it is paid. It fails when one goes wrong, or takes too long.
 */
export function judgeCanary(standing: CanaryStanding, canaryHours: number): CanaryResult {
  const { counts, bad, overdue, withheld = null } = standing;
  if (bad)
    return { kind: 'failed', failure: { kind: 'went_wrong', ...bad }, isOpen: bad.state === 'unknown' };
  if (overdue !== null) {
    const failure = { kind: 'not_settled' as const, reference: overdue, hours: canaryHours };
    return { kind: 'failed', failure, isOpen: true };
  }
  if (withheld !== null)
    return { kind: 'failed', failure: { kind: 'withheld', reference: withheld }, isOpen: false };
  const n = (state: PayoutState): number => counts[state] ?? 0;
  const open = n('held') + n('ready') + n('sending') + n('pending');
  if (open > 0) return { kind: 'waits' };
  return n('success') > 0 ? { kind: 'passed' } : { kind: 'void' };
}

/** States in which a payout of a canary shows that something is wrong. */
export const canaryBad = [
  'failed',
  'refused',
  'returned',
  'unknown',
] as const satisfies readonly PayoutState[];
