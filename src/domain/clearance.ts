import type { Origin } from './origin.ts';
import type { PayoutState, WitnessStatus } from './payout.ts';

/** What a details look-up said of one payout; `status`: what it showed of a transfer that is ours in all it shows. */
export type Answer = { word: 'found' | 'not_found' | 'no_answer'; status: WitnessStatus | null };

/**
 * A payout that is to be sent again, or one that it pays again, as it stands after its look-up. `elsewhere`: an attempt of
 * it went there, and whoever was asked now does not see that.
 */
export type Subject = {
  reference: string;
  state: PayoutState;
  answer: Answer;
  elsewhere: Origin | null;
};

/**
 * What the answers mean for a payout that is to be sent (P31). `waits`: nothing is known, and nothing is sent. `against`:
 * it is for a person again; `by` says what speaks against it, and about whom.
 */
export type Clearance =
  | { kind: 'clear' }
  | { kind: 'waits' }
  | { kind: 'against'; by: 'itself' | 'predecessor'; because: 'shown' | 'lost' | 'elsewhere'; of: Subject };

/** `itself` is null for a successor that was never sent; `before` are all that it pays again. */
export function judgeClearance(itself: Subject | null, before: readonly Subject[]): Clearance {
  const own = itself ? [{ by: 'itself' as const, of: itself, found: ofItself(itself) }] : [];
  const others = before.map((of) => ({ by: 'predecessor' as const, of, found: ofPredecessor(of) }));
  const all = [...own, ...others];
  const against = all.find(({ found }) => found !== 'allows' && found !== 'waits');
  if (against && against.found !== 'allows' && against.found !== 'waits')
    return { kind: 'against', by: against.by, because: against.found, of: against.of };
  return all.some(({ found }) => found === 'waits') ? { kind: 'waits' } : { kind: 'clear' };
}

type Finding = 'allows' | 'waits' | 'shown' | 'lost' | 'elsewhere';

/** It goes out under its own reference only while the service has nothing there. */
function ofItself({ answer, elsewhere }: Subject): Finding {
  if (answer.word === 'no_answer') return 'waits';
  if (answer.word === 'found') return 'shown';
  return elsewhere ? 'elsewhere' : 'allows';
}

/** What it pays again must still have come to nothing. A transfer that is shown proves its own account. */
function ofPredecessor({ state, answer, elsewhere }: Subject): Finding {
  if (answer.word === 'no_answer') return 'waits';
  if (answer.word === 'found') return isOver(state, answer.status) ? 'allows' : 'shown';
  if (elsewhere) return 'elsewhere';
  // A refusal is a proof of its own (P6), and there is nothing to show. What failed there must be there.
  return state === 'refused' ? 'allows' : 'lost';
}

function isOver(state: PayoutState, status: WitnessStatus | null): boolean {
  return status === 'failed' || (status === 'returned' && state === 'returned');
}
