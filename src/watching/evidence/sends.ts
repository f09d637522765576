import { countPossiblyTaken, countSends } from '../../core/domain/outcome.ts';
import type { PayoutEvidence } from './evidence.sql.ts';

/**
 * Sends that the service may have taken: accepted, unknown, under way, or forgotten by a ledger that went back (P25).
 */
export function possiblyTaken({ payout, attempts }: Pick<PayoutEvidence, 'payout' | 'attempts'>): number {
  return countPossiblyTaken(attempts, payout.unseen_sends);
}

/** True after a second POST, whatever the service answered to the first: details show one transfer only (P8, P17). */
export function isSentAgain({ payout, attempts }: Pick<PayoutEvidence, 'payout' | 'attempts'>): boolean {
  return countSends(attempts, payout.unseen_sends) > 1;
}

/** No decision rests on a question asked longer before it. */
const longestMs = 25 * 3_600_000;

/**
 * How fresh an answer must be: it was asked at or after this instant, ISO UTC. Null: of any age, for what is only offered
 * and asked about again before it is paid.
 */
export type Since = string | null;

/**
 * True for what was asked at or after this instant; false where the clock ran far ahead then and has been put right.
 */
export function isAskedSince(askedAt: string, since: Since): boolean {
  if (since === null) return true;
  return askedAt >= since && !(Date.parse(askedAt) - Date.parse(since) > longestMs);
}

/**
 * True for what was asked before the last attempt ended: it says nothing of that attempt (P4). An attempt that a ledger
 * forgot when it went back in time counts too.
 */
export function isOutrun(
  { attempts, adoptedAt }: Pick<PayoutEvidence, 'attempts' | 'adoptedAt'>,
  askedAt: string,
): boolean {
  const ends = attempts.map(({ began_at, ended_at }) => ended_at ?? began_at);
  return [...ends, ...(adoptedAt === null ? [] : [adoptedAt])].some((end) => end >= askedAt);
}
