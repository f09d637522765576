import { setImmediate } from 'node:timers/promises';
import type { Db, Trx } from '../storage/ledger.ts';
import { newestId } from './history.ts';

/** Payouts with an id above `after` and up to `upTo`. */
export type PayoutRange = { after: bigint; upTo: bigint };

const idsPerRange = 10_000n;
const highest = 2n ** 63n - 1n;

/** Yields ranges of ids that cover all payouts: one query over a million would block a webhook for a second. */
export async function* payoutRanges(db: Db | Trx): AsyncGenerator<PayoutRange> {
  const newest = await newestId(db, 'payouts');
  for (let after = 0n; ; after += idsPerRange) {
    const isLast = after + idsPerRange >= newest;
    yield { after, upTo: isLast ? highest : after + idsPerRange };
    if (isLast) return;
    await setImmediate();
  }
}
