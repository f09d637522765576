import { kindRules } from '../../core/domain/discrepancy-kinds.ts';
import { isFinalByEvidence } from '../../core/domain/transition.ts';
import { contradicted, revived, webhookAgainst } from './doubts.ts';
import type { PayoutEvidence } from './evidence.sql.ts';
import type { WhatMayBeDone } from './judge.ts';
import { listedAs } from './listed-as.ts';

/** A command that ends the state of a payout, or what is open about it; `wait`: its answer is on its way. */
export type Remedy = 'wait' | 'release' | 'submit' | 'retry' | 'cancel' | 'settle' | 'resolve';

/** The commands with which a person may end this (P32), the simplest first. `judgement` is what `retry` may do. */
export function remediesFor(one: PayoutEvidence, judgement: WhatMayBeDone): Remedy[] {
  const { payout, attempts, discrepancies } = one;
  const { state } = payout;
  if (state === 'sending' || attempts.some(({ outcome }) => outcome === null)) return ['wait'];
  const retry: Remedy[] = judgement.kind === 'no' ? [] : ['retry'];
  switch (state) {
    case 'held':
    case 'ready': {
      const go: Remedy = state === 'held' ? 'release' : 'submit';
      return isShown(one) ? [go, 'settle'] : [go, 'cancel', 'settle'];
    }
    case 'pending':
    case 'unknown':
      return [...retry, 'settle'];
    case 'success':
    case 'failed':
    case 'returned':
    case 'refused':
    case 'cancelled':
      if (!isFinalByEvidence(payout) || isContradicted(one)) return [...retry, 'settle'];
      return discrepancies.some((other) => other.state === 'open') ? [...retry, 'resolve'] : retry;
  }
}

/** True where the service shows a transfer under its reference, so that it cannot be cancelled. */
function isShown(one: PayoutEvidence): boolean {
  const isListed = (one.listing?.statuses.length ?? 0) + one.listedSince.length > 0;
  return isListed || contradicted(one) !== null || webhookAgainst(one) !== null;
}

/**
 * True where something contradicts what made it final. Every reason for which `retry` refuses a final payout is here.
 */
function isContradicted(one: PayoutEvidence): boolean {
  const { payout, discrepancies } = one;
  // A status conflict that shows what the payout is now no longer contradicts it: the list has overturned the ledger.
  const against = discrepancies.filter(({ actual }) => actual !== payout.state);
  if (against.some(({ kind }) => kindRules[kind].againstEvidence)) return true;
  if ([contradicted(one), revived(one), webhookAgainst(one)].some((why) => why !== null)) return true;
  const others = (['pending', 'success', 'returned'] as const).filter((word) => word !== payout.state);
  return payout.state !== 'success' && listedAs(one, others) !== null;
}
