import { DateTime } from 'luxon';
import { startOfDay } from '../core/domain/local-day.ts';
import { decimalToMinor, formatMinor } from '../core/domain/money.ts';

/** A day of `submission.daily_limit`: its date for people, and its beginning and end, ISO UTC. */
export type LimitDay = { day: string; beginsAt: string; endsAt: string };

/** Returns the day of a time zone that holds an instant; days of 23 and 25 hours too. */
export function dayAt(at: string, zone: string): LimitDay {
  const begins = startOfDay(DateTime.fromISO(at, { zone }));
  const ends = startOfDay(begins.plus({ days: 1 }));
  return { day: begins.toISODate() ?? at.slice(0, 10), beginsAt: iso(begins), endsAt: iso(ends) };
}

function iso(time: DateTime | number): string {
  return new Date(time.valueOf()).toISOString();
}

/** A day that begins this much later than today was begun by a wrong clock, whatever the time zone. */
export const farAheadMs = 36 * 3_600_000;

/**
 * The first and the last day that it may be now: by the service's clock, and by ours where that is ahead. Our estimate of the
 * service's clock stands still while the machine sleeps, so it may be late. Our own may have been set to any time (P33): one
 * that is behind, or far ahead, is wrong. `serviceNow`: ms; without it our clock alone counts.
 */
export function daysNow(
  { at, serviceNow }: { at: string; serviceNow?: number | null | undefined },
  zone: string,
): { first: LimitDay; last: LimitDay } {
  const own = Date.parse(at);
  const first = dayAt(iso(serviceNow ?? own), zone);
  const aheadMs = serviceNow == null ? 0 : own - serviceNow;
  return { first, last: aheadMs > 0 && aheadMs <= farAheadMs ? dayAt(at, zone) : first };
}

/**
 * Returns the day whose budget is in force, when the ledger last spent from `latest` and the clocks say `today`. A clock
 * that was set back opens no second budget, so the later day stays. A day far ahead was begun by a wrong clock: what was
 * spent under it then counts as spent today, so that no payout waits for that day. Days are compared as instants, since
 * `submission.timezone` may have changed between them.
 */
export function dayInForce(
  latest: LimitDay | null,
  today: LimitDay,
): { kind: 'new' | 'same' | 'moved'; day: LimitDay } {
  if (latest === null || today.beginsAt > latest.beginsAt) return { kind: 'new', day: today };
  const aheadMs = Date.parse(latest.beginsAt) - Date.parse(today.beginsAt);
  return aheadMs > farAheadMs ? { kind: 'moved', day: today } : { kind: 'same', day: latest };
}

/** Limits per currency in minor units, from the configuration's decimals. */
export function limitsOf(written: Record<string, string>): Map<string, bigint> {
  return new Map(
    Object.entries(written).flatMap(([currency, text]) => {
      const minor = decimalToMinor(text, currency);
      return minor === null ? [] : [[currency, minor] as const];
    }),
  );
}

/** What is left of each limit; never below zero. */
export function leftOf(
  limits: ReadonlyMap<string, bigint>,
  used: ReadonlyMap<string, bigint>,
): Map<string, bigint> {
  return new Map(
    [...limits].map(([currency, limit]) => {
      const left = limit - (used.get(currency) ?? 0n);
      return [currency, left > 0n ? left : 0n];
    }),
  );
}

type Order = { amount: bigint; currency: string; batch_id: string };

/**
 * Admits payouts, in their order, as far as the rest of the day's limit allows; `left` is what remains then. Once a
 * payout does not fit, the rest of its batch in that currency waits too, so that a batch keeps its order.
 */
export function admit<P extends Order>(
  waiting: readonly P[],
  left: ReadonlyMap<string, bigint>,
): { admitted: P[]; left: Map<string, bigint> } {
  const rest = new Map(left);
  const closed = new Set<string>();
  const admitted = waiting.filter(({ amount, currency, batch_id }) => {
    const free = rest.get(currency);
    if (free === undefined) return true;
    const lane = `${currency} ${batch_id}`;
    if (closed.has(lane) || amount > free) {
      closed.add(lane);
      return false;
    }
    rest.set(currency, free - amount);
    return true;
  });
  return { admitted, left: rest };
}

/** Why a payout can never be sent: it is above a whole day's limit. Null when it is not. */
export function whyTooLarge(
  { amount, currency }: { amount: bigint; currency: string },
  limits: ReadonlyMap<string, bigint>,
): string | null {
  const limit = limits.get(currency);
  if (limit === undefined || amount <= limit) return null;
  const shown = (minor: bigint): string => `${currency} ${formatMinor(minor, currency)}`;
  return `${shown(amount)} is more than submission.daily_limit lets go in a whole day, ${shown(limit)}`;
}

/** An instant as people of a time zone read it, `2026-11-22 00:00 +01:00`. */
export function shownInstant(at: string, zone: string): string {
  return DateTime.fromISO(at, { zone }).toFormat('yyyy-MM-dd HH:mm ZZ');
}
