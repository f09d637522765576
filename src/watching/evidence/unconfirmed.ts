import type { AdvisedReason } from '../../core/domain/advice.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { readStatus } from '../../core/domain/witness.ts';
import type { PayoutEvidence } from './evidence.sql.ts';
import { lookUpResultOf } from './look-up-result.ts';
import { isAskedSince, isOutrun, isSentAgain, possiblyTaken, type Since } from './sends.ts';

/**
 * Why a `failed` payout may not be paid again yet; null where its look-up or its listing confirms that it failed (P17,
 * P20). It names what both lack, and what would be enough. `since`: when the look-up for this decision began. Where the service
 * is asked again before anything is paid, the ledger's word is enough, unless a person gave it, or it was sent again: the
 * details then settle nothing.
 */
export function unconfirmed(evidence: PayoutEvidence, since: Since): AdvisedReason | null {
  const asked = lookUpLacks(evidence, since);
  const listed = listingLacks(evidence);
  if (asked === null || listed === null) return null;
  if (since === null && !restsOnPerson(evidence.payout.evidence) && !isSentAgain(evidence)) return null;
  const { reference, evidence: rests } = evidence.payout;
  if (restsOnPerson(rests)) {
    const why = `only a person has said that it failed; the service has not confirmed it. Ask the service in writing whether ${reference} was or will be paid; once it says no, pay it under a new reference in a new file`;
    return { why, advice: null };
  }
  const why = `nothing confirms now that it failed: ${asked}, and ${listed}`;
  return {
    why,
    advice: { kind: 'confirm_failure', reference, taken: needed(evidence), byList: isSentAgain(evidence) },
  };
}

/**
 * True where a look-up or a complete listing begun since then confirms the failure. A file that pays again needs this.
 */
export function isConfirmedSince(evidence: PayoutEvidence, since: Since): boolean {
  const { listing } = evidence;
  if (since === null) return true;
  if (lookUpLacks(evidence, since) === null) return true;
  return listing !== null && isAskedSince(listing.startedAt, since) && listingLacks(evidence) === null;
}

/** What the look-up lacks. Details show one transfer: after a resend they say nothing of the other (P17). */
function lookUpLacks(evidence: PayoutEvidence, since: Since): string | null {
  const { lookUp } = evidence;
  if (!lookUp) return 'no look-up was answered';
  const name = `the look-up of ${lookUp.answeredAt}`;
  if (!isAskedSince(lookUp.askedAt, since)) return `${name} is older than this question`;
  const verdict = lookUpResultOf(evidence);
  if (verdict === 'not_found') return `${name} did not find it`;
  if (verdict !== 'failed') return `${name} got no clear answer`;
  return isSentAgain(evidence) ? 'a look-up shows one transfer, but it was sent more than once' : null;
}

/** What the listing lacks. It must end after the failure, and show every send that may have been taken as failed. */
function listingLacks(evidence: PayoutEvidence): string | null {
  const { payout, listing } = evidence;
  if (!listing) return 'no listing was ever proven complete';
  const { startedAt, finishedAt, statuses } = listing;
  const name = `the listing of run ${listing.run}`;
  if (isOutrun(evidence, startedAt)) return `${name} is older than the last attempt`;
  if (payout.final_at === null || finishedAt <= payout.final_at)
    return `${name} is older than the word that it failed`;
  if (statuses.length === 0) return `${name} does not show it`;
  const other = statuses.find((status) => readStatus(status) !== 'failed');
  if (other !== undefined) return `${name} shows a transfer of it as ${other}`;
  return statuses.length < needed(evidence)
    ? `${name} shows ${statuses.length} of the ${needed(evidence)} transfers that there may be`
    : null;
}

/** How many failed transfers a listing must show. */
function needed(evidence: PayoutEvidence): number {
  return Math.max(1, possiblyTaken(evidence));
}
