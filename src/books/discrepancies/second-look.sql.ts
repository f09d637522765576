import { setImmediate } from 'node:timers/promises';
import type { PayoutRange } from '../../core/ledger/payout-ranges.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { casesIn, type PairCase, type WalkedRange } from './pair-cases.sql.ts';

/**
 * What a first look at a run's pairs came to. `mark`: the newest history entry before it; `walked`: the ranges it went
 * through, all payouts together; `paired`: payouts that got a listed row since.
 */
export type FirstLook = { mark: bigint; walked: WalkedRange[]; paired: Set<bigint> };

/** Beyond so many moved payouts, finding the range of each costs more than to look at all. */
const mostMoved = 20_000;

/**
 * The cases of a run once more, after look-ups and what came in meanwhile. A range without a case in which no payout
 * moved and none was paired still has none: every change of a payout or an attempt leaves a history entry (P27).
 */
export async function* casesAgain(
  db: Db,
  { run, look }: { run: string; look: FirstLook },
  limit: number,
): AsyncGenerator<PairCase[]> {
  const moved = await movedSince(db, look.mark);
  const paired = [...look.paired];
  const isQuiet = (range: PayoutRange): boolean =>
    moved !== null && !hasAny(range, moved) && !hasAny(range, paired);
  for (const range of look.walked) {
    if (!range.any && isQuiet(range)) continue;
    yield* casesIn(db, { run, range }, limit);
    await setImmediate();
  }
}

function hasAny({ after, upTo }: PayoutRange, ids: readonly bigint[]): boolean {
  return ids.some((id) => id > after && id <= upTo);
}

/** The payouts with a history entry after this one; null when they are many. */
async function movedSince(db: Db, mark: bigint): Promise<bigint[] | null> {
  const rows = await db
    .selectFrom('history')
    .select('payout_id')
    .where('id', '>', mark)
    .orderBy('id')
    .limit(mostMoved)
    .execute();
  return rows.length === mostMoved ? null : [...new Set(rows.map((row) => row.payout_id))];
}
