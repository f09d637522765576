import { countPossiblyTaken } from '../domain/outcome.ts';
import type { Evidence } from './evidence.sql.ts';

/** Sends that the service may have taken: accepted, unknown, under way, or forgotten by a ledger that went back (P25). */
export function possiblyTaken({ payout, attempts }: Pick<Evidence, 'payout' | 'attempts'>): number {
  return countPossiblyTaken(attempts, payout.unseen_sends);
}

/** Longer before its decision nothing is asked that a decision rests on: a day for what is only offered. */
const longestMs = 25 * 3_600_000;

/** True for what was asked at or after this instant; not where it was asked under a clock that ran ahead and is right again. */
export function isAskedSince(askedAt: string, since: string): boolean {
  return askedAt >= since && !(Date.parse(askedAt) - Date.parse(since) > longestMs);
}

/** True for what was asked for before the last attempt ended, a forgotten one included: it says nothing of it (P4). */
export function isOutrun(
  { attempts, adoptedAt }: Pick<Evidence, 'attempts' | 'adoptedAt'>,
  askedAt: string,
): boolean {
  const ends = attempts.map(({ began_at, ended_at }) => ended_at ?? began_at);
  return [...ends, ...(adoptedAt === null ? [] : [adoptedAt])].some((end) => end >= askedAt);
}
