import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { namedAgainReason } from './again-names.ts';
import { retriedSince } from './later-likes.sql.ts';
import { alikeReason, type Likeness, type NearTo, nearTo } from './likeness.sql.ts';
import type { PaysAgain } from './retries.ts';
import type { Scan } from './scan.ts';
import { valueAgainReason } from './values-again.sql.ts';

/** The reasons to hold that the file alone gives: repeated rows, retries without `retry_of`, payouts above the limits. */
export function fileReasons(scan: Scan): HoldReason[] {
  const { duplicates, namedAgain, overLimit, overDay, valuesAgain } = scan;
  const reasons: HoldReason[] = [];
  const [first] = duplicates.list;
  if (first) {
    const { row, earlier } = first;
    reasons.push({ kind: 'repeated_row', row, earlier, others: duplicates.count - 1 });
  }
  reasons.push(...namedAgainReason(namedAgain.list[0], namedAgain.count));
  reasons.push(...valueAgainReason(valuesAgain.list[0], valuesAgain.count));
  if (overLimit.count > 0)
    reasons.push({ kind: 'payout_limit', count: overLimit.count, first: overLimit.list });
  if (overDay.count > 0) reasons.push({ kind: 'daily_limit', count: overDay.count, first: overDay.list });
  return reasons;
}

export type FindLikeness = (near: NearTo) => Promise<{ count: number; first: Likeness[] }>;

type Retried = { db: Db | Trx; plans: readonly PaysAgain[]; batch?: string };

/**
 * Finds earlier payouts like these within `duplicate_window_days`: a reason to hold. 0 turns the check off. What is paid again
 * is compared too with what came or turned out paid since it was sent, as a `retry` is (P20).
 */
export async function ledgerLikeness(
  { clock, config }: { clock: Clock; config: Config },
  find: FindLikeness,
  { db, plans, batch = '' }: Retried,
): Promise<{ reasons: HoldReason[]; recent: Likeness[] }> {
  if (config.submission.duplicateWindowDays === 0) return { reasons: [], recent: [] };
  const zone = config.reports.timezone;
  const near = nearTo({ config, nowMs: clock.now() });
  const { first, count } = await find(near);
  if (count > 0) return { reasons: alikeReason(first[0], count, zone), recent: first };
  const recent = await retriedSince(db, { plans, besides: batch }, near(''));
  return { reasons: alikeReason(recent[0], recent.length, zone), recent };
}
