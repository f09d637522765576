import { DateTime } from 'luxon';
import { decimalToMinor, formatMinor } from './money.ts';

/** The answer of the last call: it is asked with every group of intents, and the day does not change within a second. */
const last = { key: '', day: '' };

/** The day of an instant in a time zone, `2026-11-21`. */
export function dayOf(at: string, zone: string): string {
  const key = `${at.slice(0, 19)}${at.slice(23)} ${zone}`;
  if (last.key !== key) {
    last.day = DateTime.fromISO(at, { zone }).toISODate() ?? at.slice(0, 10);
    last.key = key;
  }
  return last.day;
}

/** When a day begins, ISO UTC; where the clocks skip midnight, at the first moment of the day. */
export function dayBegins(day: string, zone: string): string {
  return iso(DateTime.fromISO(day, { zone }).startOf('day'));
}

/** When the day after it begins, ISO UTC: days of 23 and 25 hours included. */
export function dayEnds(day: string, zone: string): string {
  return iso(DateTime.fromISO(day, { zone }).plus({ days: 1 }).startOf('day'));
}

function iso(time: DateTime): string {
  return new Date(time.toMillis()).toISOString();
}

/**
 * Which day's budget is in force, when the ledger last spent from `latest` and the clock says `today`: a clock that was
 * set back opens no second budget, so the later day stays. One that was more than a day ahead was wrong before: what
 * was spent under that day then counts as spent today, so that nobody waits for a day far away.
 */
export function dayInForce(
  latest: string | null,
  today: string,
): { kind: 'new' | 'same' | 'moved'; day: string } {
  if (latest === null || today > latest) return { kind: 'new', day: today };
  if (today === latest) return { kind: 'same', day: latest };
  const gap = DateTime.fromISO(latest, { zone: 'utc' }).diff(
    DateTime.fromISO(today, { zone: 'utc' }),
    'days',
  );
  return gap.days > 1 ? { kind: 'moved', day: today } : { kind: 'same', day: latest };
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
 * Those of these payouts, in their order, that what is left of the day allows; `left` is what remains afterwards. The
 * first of a batch that does not fit makes the rest of it in that currency wait, so that a batch keeps its order.
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

/** Why a payout never goes: not even a whole day's limit is enough for it; null when it is. */
export function whyTooLarge(
  { amount, currency, reference }: { amount: bigint; currency: string; reference: string },
  limits: ReadonlyMap<string, bigint>,
): string | null {
  const limit = limits.get(currency);
  if (limit === undefined || amount <= limit) return null;
  const shown = (minor: bigint): string => `${currency} ${formatMinor(minor, currency)}`;
  return `${shown(amount)} is more than submission.daily_limit lets go in a whole day, ${shown(limit)}: raise the limit, then counterfoil release its batch, or drop it with counterfoil cancel ${reference}`;
}

/** An instant as people of a time zone read it, `2026-11-22 00:00 +01:00`. */
export function shownInstant(at: string, zone: string): string {
  return DateTime.fromISO(at, { zone }).toFormat('yyyy-MM-dd HH:mm ZZ');
}
