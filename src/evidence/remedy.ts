import { kindRules } from '../domain/discrepancy-kinds.ts';
import type { PayoutState } from '../domain/payout.ts';
import { isFinalByEvidence } from '../domain/transition.ts';
import { contradicted, heardAgainst, revived } from './doubts.ts';
import type { Evidence } from './evidence.sql.ts';
import type { Judgement } from './judge.ts';
import { listedAs } from './listed-as.ts';
import { possiblyTaken } from './sends.ts';

/** What decides which commands can end a payout's state. */
export type Facts = {
  state: PayoutState;
  evidence: string;
  /** An attempt waits for its answer. */
  underWay: boolean;
  /** The service may have taken a send of it, or shows a transfer under its reference: it may be paid. */
  maybePaid: boolean;
  /** Other evidence speaks against the one that made it final. */
  contradicted: boolean;
  /** `retry` may send it again, or pay it under a new reference (P20). */
  mayRetry: boolean;
  /** Discrepancies about it wait for a person. */
  hasOpen: boolean;
};

/** A command that ends the state of a payout, or what is open about it; `wait`: its answer is on its way. */
export type Remedy = 'wait' | 'release' | 'submit' | 'retry' | 'cancel' | 'settle' | 'resolve';

/** Every command that a person may end this with, the nearest first (P32); none where nothing is left to end. */
export function remediesFor(facts: Facts): Remedy[] {
  const { state, underWay, maybePaid, mayRetry, hasOpen } = facts;
  if (underWay || state === 'sending') return ['wait'];
  const retry: Remedy[] = mayRetry ? ['retry'] : [];
  switch (state) {
    case 'held':
    case 'ready': {
      const go: Remedy = state === 'held' ? 'release' : 'submit';
      return maybePaid ? [go, 'settle'] : [go, 'cancel', 'settle'];
    }
    case 'pending':
    case 'unknown':
      return [...retry, 'settle'];
    case 'success':
    case 'failed':
    case 'returned':
    case 'refused':
    case 'cancelled':
      if (!isFinalByEvidence(facts) || facts.contradicted) return [...retry, 'settle'];
      return hasOpen ? [...retry, 'resolve'] : retry;
  }
}

/** The facts about one payout; `judgement` is what `retry` may do. */
export function factsFor(one: Evidence, judgement: Judgement): Facts {
  const { payout, attempts, discrepancies, listing, listedSince } = one;
  const isListed = (listing?.statuses.length ?? 0) + listedSince.length > 0;
  return {
    state: payout.state,
    evidence: payout.evidence,
    underWay: attempts.some(({ outcome }) => outcome === null),
    maybePaid: possiblyTaken(one) > 0 || isListed || contradicted(one) !== null || heardAgainst(one) !== null,
    contradicted: isContradicted(one),
    mayRetry: judgement.kind !== 'no',
    hasOpen: discrepancies.some(({ state }) => state === 'open'),
  };
}

/** True where something stands against what made it final: each reason for which `retry` refuses it is among them. */
function isContradicted(one: Evidence): boolean {
  const { payout, discrepancies } = one;
  // A status conflict that shows what the payout is now no longer contradicts it: the list has overturned the ledger.
  const against = discrepancies.filter(({ actual }) => actual !== payout.state);
  if (against.some(({ kind }) => kindRules[kind].againstEvidence)) return true;
  if ([contradicted(one), revived(one), heardAgainst(one)].some((why) => why !== null)) return true;
  const others = (['pending', 'success', 'returned'] as const).filter((word) => word !== payout.state);
  return payout.state !== 'success' && listedAs(one, others) !== null;
}
