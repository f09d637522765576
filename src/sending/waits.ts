import { capInquiries } from '../core/ledger/inquiries.ts';
import type { Trx } from '../core/storage/ledger.ts';
import { capCollectionAsks } from '../watching/collections/collection-watch.sql.ts';
import { rebasePauses } from '../watching/lookups/pauses.sql.ts';
import { capResends } from '../watching/lookups/resend-requests.sql.ts';
import { capCanaries } from './canaries.sql.ts';

/**
 * Shortens waits that a clock ahead of now wrote into the ledger, to the longest wait that each rule allows (P33). Asking
 * early is harmless, so any process may call this at any time.
 */
export async function capWaits(trx: Trx, when: { at: string; quietPeriodMs: number }): Promise<void> {
  const { at } = when;
  await capInquiries(trx, when);
  await capResends(trx, at);
  await capCollectionAsks(trx, at);
  await capCanaries(trx, at);
  await rebasePauses(trx, at);
}
