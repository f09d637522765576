import { graceBegan, graceEnds } from '../../core/domain/grace.ts';
import { sentInside } from '../../core/domain/list-order.ts';
import type { AttemptMark } from '../../core/ledger/known.ts';
import { payoutRanges } from '../../core/ledger/payout-ranges.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { ListingResult } from '../../watching/listing/completeness.ts';
import type { SeenBy } from './discrepancies.sql.ts';
import type { FirstLook } from './second-look.sql.ts';
import { type WatchedPayout, type WatchedSet, watchedAfter } from './watched.sql.ts';

/**
 * One run under way. `begunAt`, `mark`: before the first page was asked for; `look`: what its pairs showed at first;
 * `opened`: discrepancies so far.
 */
export type Work = {
  by: SeenBy;
  begunAt: string;
  mark: AttemptMark;
  listing: ListingResult;
  look: FirstLook;
  opened: number;
};

const chunk = 500;

/** Walks the payouts that a nightly question is about, a chunk at a time. */
export function createWatch({ ledger, graceMinutes }: { ledger: Ledger; graceMinutes: number }) {
  return {
    /**
     * What the run's listing lacks although its last attempt ended before the cut, less the grace (P28); of a short cut
     * only what was first sent inside its edge (P29). Our clock counts too, should the service's be ahead.
     */
    unlisted: ({ by, begunAt, listing }: Pick<Work, 'by' | 'begunAt' | 'listing'>): WatchedSet => ({
      kind: 'unlisted',
      run: by.run,
      endedBy: graceBegan(listing.cut, begunAt, graceMinutes),
      stampsUntil: graceEnds(begunAt, graceMinutes),
      sentSince: listing.window ? sentInside(listing.window.edge) : '',
    }),
    /**
     * P29: of a payout first sent before a short cut's edge not every transfer need be listed: a full run judges it.
     */
    whole<T extends { payout: { firstIntentAt: string | null } }>(
      { listing }: Pick<Work, 'listing'>,
      cases: T[],
    ): T[] {
      const { window } = listing;
      if (!window) return cases;
      const since = sentInside(window.edge);
      return cases.filter(({ payout }) => payout.firstIntentAt === null || payout.firstIntentAt >= since);
    },
    async each(watch: WatchedSet, work: (payouts: WatchedPayout[]) => Promise<void>): Promise<void> {
      for await (const range of payoutRanges(ledger.db)) {
        for (let { after } = range, more = true; more; ) {
          const payouts = await watchedAfter(ledger.db, watch, { ...range, after }, chunk);
          more = payouts.length === chunk;
          after = payouts.at(-1)?.id ?? after;
          if (payouts.length > 0) await work(payouts);
        }
      }
    },
  };
}
