import { capCollectionAsks } from '../collections/collection-watch.sql.ts';
import { capInquiries } from '../ledger/inquiries.ts';
import { rebasePauses } from '../lookups/pauses.sql.ts';
import { capResends } from '../lookups/resend-requests.sql.ts';
import type { Trx } from '../storage/ledger.ts';
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
