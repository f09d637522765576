import type { ServiceAccount } from '../../core/domain/origin.ts';
import { awaitsListing, type WaivedListing, waivedListings } from '../../core/ledger/barriers.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { newestCompleteRun } from './listings.sql.ts';

/**
 * Returns the decision under which new batches are sent without a complete list (P32); null where none is needed: a
 * complete list was read since, or the ledger waits again.
 */
export async function waivedListing(db: Db, account: ServiceAccount | null): Promise<WaivedListing | null> {
  const last = (await waivedListings(db)).at(-1);
  if (!last || (await awaitsListing(db))) return null;
  const complete = await newestCompleteRun(db, await foreignOrigins(db, account));
  return complete && complete.startedAt > last.at ? null : last;
}
