import type { Origin } from './origin.ts';
import type { PayoutState, WitnessStatus } from './payout.ts';

/** The answer of a details look-up about one payout. `status`: that of a transfer which agrees with ours in every field. */
export type ClearanceAnswer = { word: 'found' | 'not_found' | 'no_answer'; status: WitnessStatus | null };

/**
 * A payout to send again, or one that it repeats, after its look-up. `elsewhere`: an attempt of it went to that
 * account, which the account asked now does not see.
 */
export type ClearanceSubject = {
  reference: string;
  state: PayoutState;
  answer: ClearanceAnswer;
  elsewhere: Origin | null;
};

/**
 * What the answers mean for a payout that is due (P31). `waits`: nothing is known, and nothing is sent. `against`: a
 * person must decide; `by` and `of` say which payout speaks against it, `because` says why.
 */
export type Clearance =
  | { kind: 'clear' }
  | { kind: 'waits' }
  | {
      kind: 'against';
      by: 'itself' | 'predecessor';
      because: 'shown' | 'lost' | 'elsewhere';
      of: ClearanceSubject;
    };

/** Judges all answers. `itself` is null for a successor that was never sent; `before` holds all payouts that it repeats. */
export function judgeClearance(
  itself: ClearanceSubject | null,
  before: readonly ClearanceSubject[],
): Clearance {
  const own = itself ? [{ by: 'itself' as const, of: itself, finding: ofItself(itself) }] : [];
  const others = before.map((of) => ({ by: 'predecessor' as const, of, finding: ofPredecessor(of) }));
  const all = [...own, ...others];
  for (const { by, of, finding } of all)
    if (finding !== 'allows' && finding !== 'waits') return { kind: 'against', by, because: finding, of };
  return all.some(({ finding }) => finding === 'waits') ? { kind: 'waits' } : { kind: 'clear' };
}

type Finding = 'allows' | 'waits' | 'shown' | 'lost' | 'elsewhere';

/** It is sent under its own reference only while the service has nothing there. */
function ofItself({ answer, elsewhere }: ClearanceSubject): Finding {
  if (answer.word === 'no_answer') return 'waits';
  if (answer.word === 'found') return 'shown';
  return elsewhere ? 'elsewhere' : 'allows';
}

/** A payout that it repeats must still not be paid. A transfer that the service shows proves its own account. */
function ofPredecessor({ state, answer, elsewhere }: ClearanceSubject): Finding {
  if (answer.word === 'no_answer') return 'waits';
  if (answer.word === 'found') return isOver(state, answer.status) ? 'allows' : 'shown';
  if (elsewhere) return 'elsewhere';
  // A refusal is a proof of its own (P6), and what was cancelled was never sent: both leave nothing to show. A failed
  // transfer must still be there.
  return state === 'refused' || state === 'cancelled' ? 'allows' : 'lost';
}

function isOver(state: PayoutState, status: WitnessStatus | null): boolean {
  // Nothing of ours stands under a reference that was never sent.
  if (state === 'cancelled') return false;
  return status === 'failed' || (status === 'returned' && state === 'returned');
}
