import type { AdvisedReason } from '../../core/domain/advice.ts';
import { readStatus } from '../../core/domain/witness.ts';
import type { PayoutEvidence } from './evidence.sql.ts';

/**
 * Why one of these statuses keeps the payout from being sent again; null when no list shows one. The newest complete
 * listing counts, and each run after it, as far as they were made since the payout came to its state.
 */
export function listedAs(evidence: PayoutEvidence, statuses: readonly string[]): AdvisedReason | null {
  const { listing } = evidence;
  const settled = settledAt(evidence);
  if (listing && listing.finishedAt > settled) {
    // A failed payout was pending before: only a list begun since can say that a transfer of it is pending now.
    const isSince = evidence.payout.state === 'failed' && listing.startedAt > settled;
    const words = isSince ? [...statuses, 'pending'] : statuses;
    const shown = listing.statuses.find((status) => words.includes(wordOf(status)));
    if (shown !== undefined) return listedBy(listing.run, shown);
  }
  return listedLater(evidence, statuses, settled);
}

/** Presence needs no complete list: a shortcut run that shows it as paid counts like any other (P16, P29). */
function listedLater(
  { payout, listedSince }: PayoutEvidence,
  statuses: readonly string[],
  settled: string,
): AdvisedReason | null {
  const isFailed = payout.state === 'failed';
  const later = listedSince.find(({ status, startedAt, finishedAt }) => {
    const word = wordOf(status);
    // A failed payout was pending before: only a run begun since can say that it is pending now.
    if (isFailed && word === 'pending') return startedAt > settled;
    // A run that never ended may have read this row at any time since it began.
    return statuses.includes(word) && (finishedAt === null || finishedAt > settled);
  });
  return later ? listedBy(later.run, later.status) : null;
}

/** True where the newest complete list and the runs after it show more than one transfer of it. */
export function severalListed({ listing, listedSince }: PayoutEvidence): boolean {
  return new Set([...(listing?.transfers ?? []), ...listedSince.map(({ transfer }) => transfer)]).size > 1;
}

function settledAt({ payout, attempts }: PayoutEvidence): string {
  return payout.final_at ?? attempts.at(-1)?.ended_at ?? payout.updated_at;
}

/** Reads a status; an unfamiliar one may mean that the transfer is on its way. */
function wordOf(status: string): string {
  return readStatus(status) ?? 'pending';
}

function listedBy(run: string, status: string): AdvisedReason {
  const why = `the listing of run ${run} shows a transfer of it as ${status}`;
  return { why, advice: { kind: 'see_discrepancies' } };
}
