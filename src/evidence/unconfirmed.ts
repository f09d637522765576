import { restsOnPerson } from '../domain/transition.ts';
import { readStatus } from '../domain/witness.ts';
import type { Evidence } from './evidence.sql.ts';
import { isOutrun, possiblyTaken } from './sends.ts';

type Listing = NonNullable<Evidence['listing']>;

/**
 * Why a `failed` payout is not paid again yet: what its look-up and its listing lack, and what would be enough (P17,
 * P20). `fresh`: the look-up was made for this decision.
 */
export function unconfirmed(evidence: Evidence, fresh: boolean): string {
  const { payout, lookUp, listing } = evidence;
  if (restsOnPerson(payout.evidence))
    return `only a person's word says that it failed; the service has not confirmed it. Ask the service in writing whether ${payout.reference} was or will be paid; once it says no, pay it under a new reference in a new file`;
  const taken = possiblyTaken(evidence);
  const asked = lookUpLacks(lookUp, fresh, taken);
  const listed = listing ? listingLacks(evidence, listing) : 'no listing was ever proven complete';
  const enough =
    taken > 1
      ? `a complete listing begun from now on that shows ${taken} transfers of it, all failed`
      : 'a look-up made now, or a complete listing begun from now on, that shows it as failed';
  return `nothing confirms now that it failed: ${asked}, and ${listed}. Enough is ${enough}: run counterfoil reconcile --full, then counterfoil retry ${payout.reference}. If that does not show it either, ask the service in writing`;
}

function lookUpLacks(lookUp: Evidence['lookUp'], fresh: boolean, taken: number): string {
  if (!lookUp) return 'no look-up was answered';
  if (!fresh) return `the look-up of ${lookUp.answeredAt} is older than this question`;
  if (lookUp.outcome === 'not_found') return `the look-up of ${lookUp.answeredAt} did not find it`;
  if (lookUp.outcome !== 'found') return `the look-up of ${lookUp.answeredAt} got no clear answer`;
  return `a look-up shows one transfer, but ${taken} sends may have been taken`;
}

function listingLacks(evidence: Evidence, { run, finishedAt, startedAt, statuses }: Listing): string {
  const finalAt = evidence.payout.final_at;
  const name = `the listing of run ${run}`;
  if (isOutrun(evidence, startedAt)) return `${name} is older than the last attempt`;
  if (finalAt === null || finishedAt <= finalAt) return `${name} is older than the word that it failed`;
  const needed = Math.max(1, possiblyTaken(evidence));
  if (statuses.length === 0) return `${name} does not show it`;
  const other = statuses.find((status) => readStatus(status) !== 'failed');
  if (other !== undefined) return `${name} shows a transfer of it as ${other}`;
  return `${name} shows ${statuses.length} of the ${needed} transfers that there may be`;
}
