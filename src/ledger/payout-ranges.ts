import { setImmediate } from 'node:timers/promises';
import type { Db } from '../storage/ledger.ts';

/** Payouts with an id above `after` and up to `upTo`. */
export type PayoutRange = { after: bigint; upTo: bigint };

const idsPerRange = 10_000n;
const highest = 2n ** 63n - 1n;

/**
 * Yields ranges of ids that cover all payouts, for queries that few payouts match. One query over a million
 * payouts would block a webhook for a second.
 */
export async function* payoutRanges(db: Db): AsyncGenerator<PayoutRange> {
  const row = await db
    .selectFrom('payouts')
    .select((eb) => eb.fn.max<bigint | null>('id').as('newest'))
    .executeTakeFirst();
  const newest = row?.newest ?? 0n;
  for (let after = 0n; ; after += idsPerRange) {
    const isLast = after + idsPerRange >= newest;
    yield { after, upTo: isLast ? highest : after + idsPerRange };
    if (isLast) return;
    await setImmediate();
  }
}
