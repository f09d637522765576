import type { ListingResult } from '../domain/completeness.ts';
import { sentInside } from '../domain/list-order.ts';
import type { Mode } from '../domain/payout.ts';
import { awaitsListing } from '../ledger/custody/barriers.ts';
import { presentPayout, takenPayout } from '../ledger/discrepancies/expected.ts';
import type { Db } from '../ledger/open.ts';

export const notOurs =
  'the list shows none of the payouts that the service is known to have: does the key belong to this ledger’s account?';

/**
 * False where a list that shows none of what the service has, to a key whose details show none either, is not our
 * account's: nothing is missing on its word. `shown`: a payout of ours was listed, or found by a look-up of the run.
 */
export async function isOurAccount(
  db: Db,
  mode: Mode,
  { listing, shown }: { listing: ListingResult; shown: boolean },
): Promise<boolean> {
  if (shown) return true;
  const present = await presentPayout(db, mode);
  const { window } = listing;
  if (present) {
    // P29: a short cut that shows none says nothing of what was sent before its edge.
    return window !== undefined && (present.expected.firstIntentAt ?? '') < sentInside(window.edge);
  }
  // P25: after an adoption the list must lift a barrier: there an acceptance is enough to expect something in it.
  return window !== undefined || !(await awaitsListing(db, mode)) || !(await takenPayout(db, mode));
}
