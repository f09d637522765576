import { readStatus } from '../domain/witness.ts';
import type { Evidence } from './evidence.sql.ts';

/**
 * Why one of these statuses, which the newest complete listing or any run after it shows, made since the payout came to
 * its state, keeps it from being sent again; null when none is shown.
 */
export function listedAs(evidence: Evidence, statuses: readonly string[]): string | null {
  const { listing } = evidence;
  const settled = settledAt(evidence);
  if (listing && listing.finishedAt > settled) {
    // What failed was pending before: only a list begun since says that it, or another of it, is pending now.
    const isSince = evidence.payout.state === 'failed' && listing.startedAt > settled;
    const words = isSince ? [...statuses, 'pending'] : statuses;
    const shown = listing.statuses.find((status) => words.includes(wordOf(status)));
    if (shown !== undefined) return listedBy(listing.run, shown);
  }
  return listedLater(evidence, statuses, settled);
}

/** Presence needs no complete list: a short cut that shows it paid is heard as any run is (P16, P29). */
function listedLater(
  { payout, listedSince }: Evidence,
  statuses: readonly string[],
  settled: string,
): string | null {
  const isFailed = payout.state === 'failed';
  const later = listedSince.find(({ status, startedAt, finishedAt }) => {
    const word = wordOf(status);
    // What failed was pending before: only a run begun since says that it is pending now.
    if (isFailed && word === 'pending') return startedAt > settled;
    // A run that never ended may have read this row at any time since it began.
    return statuses.includes(word) && (finishedAt === null || finishedAt > settled);
  });
  return later ? listedBy(later.run, later.status) : null;
}

/** True where the lists of now show more than one transfer of it. */
export function severalListed({ listing, listedSince }: Evidence): boolean {
  return new Set([...(listing?.transfers ?? []), ...listedSince.map(({ transfer }) => transfer)]).size > 1;
}

function settledAt({ payout, attempts }: Evidence): string {
  return payout.final_at ?? attempts.at(-1)?.ended_at ?? payout.updated_at;
}

/** A word that nobody knows may mean that it is on its way. */
function wordOf(status: string): string {
  return readStatus(status) ?? 'pending';
}

function listedBy(run: string, status: string): string {
  return `the listing of run ${run} shows a transfer of it as ${status}; see counterfoil discrepancies`;
}
