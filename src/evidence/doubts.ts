import { contradictionText } from '../domain/contradiction.ts';
import { whyElsewhere } from '../domain/origin.ts';
import { readStatus } from '../domain/witness.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import type { Evidence } from './evidence.sql.ts';
import { type Verdict, verdictOf } from './look-up-verdict.ts';
import { isAskedSince as isAskedNow } from './sends.ts';

/** A transfer under our reference that is not ours in all it shows may be ours all the same (P15). */
export function contradicted({ contradiction }: Evidence): string | null {
  if (contradiction === null) return null;
  return `the service shows a transfer under this reference that contradicts ours (${contradictionText(contradiction)}); ask the service`;
}

/**
 * P31: it went to another account than the one that is asked now, whose silence proves nothing. A transfer that a look-up
 * made for this decision shows proves its own account.
 */
export function sentElsewhere(evidence: Evidence, since: string): string | null {
  const { elsewhere, lookUp } = evidence;
  if (!elsewhere) return null;
  const shown: Verdict[] = ['pending', 'success', 'failed', 'returned'];
  const isShown = lookUp !== null && isAskedNow(lookUp.askedAt, since) && shown.includes(verdictOf(evidence));
  return isShown ? null : whyElsewhere(elsewhere.went, elsewhere.asks);
}

/** P14: what the details said last stays said while later look-ups get no answer. */
export function revived({ revived: isRevived, payout }: Evidence): string | null {
  if (!isRevived) return null;
  return `the service's details have shown it on its way again since it failed, and have not said failed since; counterfoil retry ${payout.reference} asks again`;
}

/** Two final witnesses that disagree (P14): nothing is paid again before a run or a person has settled it. */
export function disputed({ discrepancies }: Evidence): string | null {
  const open = discrepancies.find((one) => one.disputes === 1n);
  if (!open) return null;
  return `discrepancy ${open.id} is open: the ledger says ${open.expected}, the service said ${open.actual}. Find out which; counterfoil discrepancies resolve ${open.id} --note settles it once it is known that it was not paid`;
}

type Heard = Evidence['webhooks'][number];

/** A webhook that stands against it, unless a whole list read since says otherwise: the question that it raised (P14). */
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

/** A complete listing begun since shows nothing of it that was paid; to a stale webhook only its own answer is one. */
function isDenied({ payout, listing }: Evidence, { verdict, received_at, entry }: Heard): boolean {
  if (!listing || verdict === 'stale' || listing.startedAt <= received_at) return false;
  const over = payout.state === 'returned' ? ['failed', 'returned'] : ['failed'];
  const { statuses } = listing;
  if (statuses.length === 0 || !statuses.every((status) => over.includes(readStatus(status) ?? '')))
    return false;
  return entry === null || listing.mark === null || listing.mark >= entry;
}
