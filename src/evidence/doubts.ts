import { contradictionText } from '../domain/contradiction.ts';
import { whyElsewhere } from '../domain/origin.ts';
import { readStatus } from '../domain/witness.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import type { Evidence } from './evidence.sql.ts';
import { listedAs, severalListed } from './listed-as.ts';
import { type Verdict, verdictOf } from './look-up-verdict.ts';
import { isAskedSince, possiblyTaken } from './sends.ts';

/**
 * Why a payout that came to nothing, or whose outcome is unknown, may have been paid all the same; null where nothing says
 * so. The one place that decides this for `retry`, for files that pay again, and for what may be settled. A failure must
 * be confirmed too ({@link unconfirmed}).
 */
export function whyMaybePaid(evidence: Evidence, since: string): string | null {
  return (
    sentElsewhere(evidence, since) ??
    listed(evidence) ??
    paidByLostCopy(evidence) ??
    shownNow(evidence, since) ??
    contradicted(evidence) ??
    revived(evidence) ??
    disputed(evidence) ??
    heardAgainst(evidence)
  );
}

/** Why a transfer under our reference that differs from ours may still be ours (P15); null where there is none. */
export function contradicted({ contradiction }: Evidence): string | null {
  if (contradiction === null) return null;
  return `the service shows a transfer under this reference that contradicts ours (${contradictionText(contradiction)}); ask the service`;
}

/**
 * P31: it was sent from another account than the one that is asked now, whose silence proves nothing. A look-up made for
 * this decision that shows the transfer proves the account too.
 */
function sentElsewhere(evidence: Evidence, since: string): string | null {
  const { elsewhere, lookUp } = evidence;
  if (!elsewhere) return null;
  const shown: Verdict[] = ['pending', 'success', 'failed', 'returned'];
  const isShown =
    lookUp !== null && isAskedSince(lookUp.askedAt, since) && shown.includes(verdictOf(evidence));
  return isShown ? null : whyElsewhere(elsewhere.went, elsewhere.asks);
}

/** What the lists show of it. Where one transfer came back, another may still stand (P17). */
function listed(evidence: Evidence): string | null {
  switch (evidence.payout.state) {
    case 'failed':
      return listedAs(evidence, ['success', 'returned']);
    case 'returned':
      return possiblyTaken(evidence) > 1 || severalListed(evidence)
        ? listedAs(evidence, ['pending', 'success'])
        : null;
    default:
      return listedAs(evidence, ['pending', 'success', 'returned']);
  }
}

/** What the lost copy of this ledger may have paid again under a new reference (P20, P25). */
function paidByLostCopy({ payout, lookAlikes, listing, adoptedAt }: Evidence): string | null {
  if (adoptedAt === null) return null;
  // A listing from before the adoption was not searched for what the lost copy paid.
  if (!listing || listing.startedAt <= adoptedAt)
    return `this ledger went back in time at ${adoptedAt}, and no complete listing has been read since: a lost copy of it may have paid it. Run counterfoil reconcile --full`;
  if (lookAlikes.length === 0) return null;
  const mend =
    payout.state === 'unknown'
      ? `counterfoil settle ${payout.reference}`
      : 'pay it under a new reference in a new file if it was not';
  return `the list shows ${lookAlikes.join(', ')}, which this ledger does not know, with the same account and amount or the name of a second payment of it: a lost copy of it may have paid it so. Find out, then ${mend}`;
}

/** A look-up made for this decision shows a failed payout as something else. */
function shownNow(evidence: Evidence, since: string): string | null {
  const { payout, lookUp } = evidence;
  const verdict = verdictOf(evidence);
  const isShown = verdict === 'pending' || verdict === 'success' || verdict === 'returned';
  if (payout.state !== 'failed' || !lookUp || !isShown || !isAskedSince(lookUp.askedAt, since)) return null;
  return `the ledger says failed, but the service now says ${verdict}; run counterfoil reconcile`;
}

/** P14: the last thing that the details said still counts while later look-ups get no answer. */
export function revived({ revived: isRevived, payout }: Evidence): string | null {
  if (!isRevived) return null;
  return `the service's details have shown it on its way again since it failed, and have not said failed since; counterfoil retry ${payout.reference} asks again`;
}

/** Two final witnesses that disagree (P14): nothing is paid again before a run or a person has settled it. */
function disputed({ discrepancies }: Evidence): string | null {
  const open = discrepancies.find((one) => one.disputes === 1n);
  if (!open) return null;
  return `discrepancy ${open.id} is open: the ledger says ${open.expected}, the service said ${open.actual}. Find out which; counterfoil discrepancies resolve ${open.id} --note settles it once it is known that it was not paid`;
}

type Heard = Evidence['webhooks'][number];

/** A webhook that stands against it, unless a complete list read since says otherwise (P14). */
export function heardAgainst(evidence: Evidence): string | null {
  const last = evidence.webhooks.findLast((one) => one.stands === 1n && !isDenied(evidence, one));
  if (!last) return null;
  const against = contradictionIn('webhook', last.verdict, last);
  const told =
    last.verdict === 'stale'
      ? 'its timestamp was not of then, which proves nothing'
      : against
        ? contradictionText(against)
        : `says ${last.said}`;
  return `a webhook received ${last.received_at} contradicts it (${told}), and the service has not said otherwise since; counterfoil retry ${evidence.payout.reference} asks it`;
}

/**
 * True where a complete listing begun since shows each transfer of it, and none as paid. A webhook with a stale timestamp
 * needs a look-up of its own.
 */
function isDenied({ payout, listing }: Evidence, { id, verdict }: Heard): boolean {
  if (!listing || verdict === 'stale' || listing.webhookMark < id) return false;
  const over = payout.state === 'returned' ? ['failed', 'returned'] : ['failed'];
  const { statuses } = listing;
  return statuses.length > 0 && statuses.every((status) => over.includes(readStatus(status) ?? ''));
}
