import { sentInside } from '../../core/domain/list-order.ts';
import type { ListStanding } from '../../core/domain/verdict.ts';
import { awaitsListing } from '../../core/ledger/barriers.ts';
import { presentPayout, takenPayout } from '../../core/ledger/known.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { ListingResult } from '../../watching/listing/completeness.ts';

/** What is to be said of a list that came whole and yet cannot be compared with. */
export const standingTroubles: Partial<Record<ListStanding, string>> = {
  not_ours:
    'the list shows none of the payouts that the service is known to have: does the key belong to this ledger’s account?',
  shows_none:
    'the list shows none of the payouts that the service accepted: does the key belong to this ledger’s account?',
};

/**
 * Returns what the listing of a run is worth. A listing may show none of what the service is known to have, and the
 * details may show none either: then it is of another account, and marks no payout as missing. A listing that only lacks
 * all accepted payouts may be ours, yet nothing can be compared with it. `shown`: a payout of ours was listed, or found
 * by a look-up of the run.
 */
export async function listStandingOf(
  db: Db,
  { listing, shown }: { listing: ListingResult; shown: boolean },
): Promise<ListStanding> {
  const { complete, window } = listing;
  if (complete === false)
    return listing.listed === 0 && !listing.gap && listing.trouble !== undefined ? 'unread' : 'incomplete';
  const whole = window ? 'window' : 'complete';
  if (shown) return whole;
  const present = await presentPayout(db);
  // P29: a short cut that shows none says nothing of what was sent before its edge.
  const since = window ? sentInside(window.edge) : '';
  if (present && (!window || (present.expected.firstIntentAt ?? '') >= since)) return 'not_ours';
  // P25: after an adoption the list must lift a barrier: there an acceptance is enough to expect something in it.
  if (!(await takenPayout(db, since))) return whole;
  return !window && (await awaitsListing(db)) ? 'not_ours' : 'shows_none';
}
