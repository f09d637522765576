import type { AdvisedReason } from '../../core/domain/advice.ts';
import { contradictionText } from '../../core/domain/contradiction.ts';
import { whyElsewhere } from '../../core/domain/origin.ts';
import { witnessStatuses } from '../../core/domain/payout.ts';
import { readStatus } from '../../core/domain/witness.ts';
import { contradictionIn } from '../../core/ledger/contradiction-columns.ts';
import type { PayoutEvidence } from './evidence.sql.ts';
import { listedAs, severalListed } from './listed-as.ts';
import { type LookUpResult, lookUpResultOf } from './look-up-result.ts';
import { isAskedSince, isSentAgain, type Since } from './sends.ts';

/**
 * Why a payout that came to nothing, or whose outcome is unknown, may have been paid all the same; null where nothing says
 * so. The one place that decides this for `retry`, for files that pay again, and for what may be settled. A failure must
 * be confirmed too ({@link unconfirmed}).
 */
export function whyMaybePaid(evidence: PayoutEvidence, since: Since): AdvisedReason | null {
  return (
    sentElsewhere(evidence, since) ??
    listed(evidence) ??
    paidByLostCopy(evidence) ??
    shownNow(evidence, since) ??
    contradicted(evidence) ??
    revived(evidence) ??
    disputed(evidence) ??
    webhookAgainst(evidence)
  );
}

/** Why a transfer under our reference that differs from ours may still be ours (P15); null where there is none. */
export function contradicted({ contradiction }: PayoutEvidence): AdvisedReason | null {
  if (contradiction === null) return null;
  const why = `the service shows a transfer under this reference that contradicts ours (${contradictionText(contradiction)}); ask the service`;
  return { why, advice: null };
}

/**
 * P31: it was sent from another account than the one that is asked now, whose silence proves nothing. A look-up made for
 * this decision that shows the transfer proves the account too.
 */
function sentElsewhere(evidence: PayoutEvidence, since: Since): AdvisedReason | null {
  const { elsewhere, lookUp } = evidence;
  if (!elsewhere) return null;
  const shown: readonly LookUpResult[] = witnessStatuses;
  const isShown =
    lookUp !== null && isAskedSince(lookUp.askedAt, since) && shown.includes(lookUpResultOf(evidence));
  return isShown ? null : { why: whyElsewhere(elsewhere.went, elsewhere.asks), advice: null };
}

/** What the lists show of it. Where one transfer came back, another may still stand (P17). */
function listed(evidence: PayoutEvidence): AdvisedReason | null {
  switch (evidence.payout.state) {
    case 'failed':
      return listedAs(evidence, ['success', 'returned']);
    case 'returned':
      return isSentAgain(evidence) || severalListed(evidence)
        ? listedAs(evidence, ['pending', 'success'])
        : null;
    default:
      return listedAs(evidence, ['pending', 'success', 'returned']);
  }
}

/** What the lost copy of this ledger may have paid again under a new reference (P20, P25). */
function paidByLostCopy({ payout, lookAlikes, listing, adoptedAt }: PayoutEvidence): AdvisedReason | null {
  if (adoptedAt === null) return null;
  // A listing from before the adoption was not searched for what the lost copy paid.
  if (!listing || listing.startedAt <= adoptedAt) {
    const why = `this ledger went back in time at ${adoptedAt}, and no complete listing has been read since: a lost copy of it may have paid it`;
    const { reference, state } = payout;
    return { why, advice: { kind: 'list_or_settle', reference, unknown: state === 'unknown' } };
  }
  if (lookAlikes.length === 0) return null;
  const why = `the list shows ${lookAlikes.join(', ')}, which this ledger does not know, with the same account and amount or the name of a second payment of it: a lost copy of it may have paid it so`;
  return {
    why,
    advice: { kind: 'find_copy', unknown: payout.state === 'unknown' ? payout.reference : null },
  };
}

/** A look-up made for this decision shows a failed payout as something else. */
function shownNow(evidence: PayoutEvidence, since: Since): AdvisedReason | null {
  const { payout, lookUp } = evidence;
  const verdict = lookUpResultOf(evidence);
  const isShown = verdict === 'pending' || verdict === 'success' || verdict === 'returned';
  // Without a look-up for this decision, one of before the failure may be the last.
  if (payout.state !== 'failed' || !lookUp || !isShown || since === null) return null;
  if (!isAskedSince(lookUp.askedAt, since)) return null;
  return {
    why: `the ledger says failed, but the service now says ${verdict}`,
    advice: { kind: 'reconcile' },
  };
}

/** P14: the last thing that the details said still counts while later look-ups get no answer. */
export function revived({ revived: isRevived, payout }: PayoutEvidence): AdvisedReason | null {
  if (!isRevived) return null;
  const why =
    "the service's details have shown it on its way again since it failed, and have not said failed since";
  return { why, advice: { kind: 'ask_again', reference: payout.reference } };
}

/** Two final witnesses that disagree (P14): nothing is paid again before a run or a person has settled it. */
function disputed({ discrepancies }: PayoutEvidence): AdvisedReason | null {
  const open = discrepancies.find((one) => one.disputes === 1n);
  if (!open) return null;
  const why = `discrepancy ${open.id} is open: the ledger says ${open.expected}, the service said ${open.actual}`;
  return { why, advice: { kind: 'resolve', discrepancy: open.id } };
}

type Heard = PayoutEvidence['webhooks'][number];

/** A webhook that stands against it, unless a complete list read since says otherwise (P14). */
export function webhookAgainst(evidence: PayoutEvidence): AdvisedReason | null {
  const last = evidence.webhooks.findLast((one) => one.stands === 1n && !isDenied(evidence, one));
  if (!last) return null;
  const against = contradictionIn('webhook', last.verdict, last);
  const told =
    last.verdict === 'stale'
      ? 'its timestamp was not of then, which proves nothing'
      : against
        ? contradictionText(against)
        : `says ${last.said}`;
  const why = `a webhook received ${last.received_at} contradicts it (${told}), and the service has not said otherwise since`;
  return { why, advice: { kind: 'ask_again', reference: evidence.payout.reference } };
}

/** True where a complete listing begun since shows each transfer, and none as paid. A stale webhook needs a look-up. */
function isDenied({ payout, listing }: PayoutEvidence, { id, verdict }: Heard): boolean {
  if (!listing || verdict === 'stale' || listing.webhookMark < id) return false;
  const over = payout.state === 'returned' ? ['failed', 'returned'] : ['failed'];
  const { statuses } = listing;
  return statuses.length > 0 && statuses.every((status) => over.includes(readStatus(status) ?? ''));
}
