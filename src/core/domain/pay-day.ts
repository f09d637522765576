import { DateTime } from 'luxon';
import type { AmountProblem } from './written-amount.ts';

/** The furthest day that a file may name: a year that was mistyped is further. */
const mostDaysAhead = 366;

/** The day of a time zone that holds an instant, `YYYY-MM-DD`. `at`: ISO UTC, or ms since the epoch. */
export function dayOf(at: string | number, zone: string): string {
  const time = typeof at === 'number' ? DateTime.fromMillis(at, { zone }) : DateTime.fromISO(at, { zone });
  return time.toISODate() ?? '';
}

/**
 * The newest day whose payouts may go: today, by both clocks (P38). Our own may have stepped forward. `serviceNow`: the
 * service's time by its last `Date`, in ms; null where it sends none, or where this process asks it nothing; undefined
 * before it answered this process, and then only what names no day may go.
 */
export function payableThrough(
  { at, serviceNow }: { at: string; serviceNow: number | null | undefined },
  zone: string,
): string {
  if (serviceNow === undefined) return '';
  const own = dayOf(at, zone);
  const heard = serviceNow === null ? own : dayOf(serviceNow, zone);
  return heard < own ? heard : own;
}

/**
 * What is wrong with a day of payment; null for a good one, and for none. `today`: in the zone of the limits; `serviceToday`:
 * the same by the service's clock, where that is known.
 */
export function payDayFinding(value: string, today: string, serviceToday = today): AmountProblem {
  if (value === '') return null;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value))
    return {
      problem: 'expected a date as YYYY-MM-DD',
      fix: `write it so, for example ${today}, or leave it empty to pay at once`,
    };
  const day = DateTime.fromISO(value, { zone: 'utc' });
  if (!day.isValid) return { problem: 'is no day of the calendar', fix: 'write a day that there is' };
  const lastFrom = (from: string) => DateTime.fromISO(from, { zone: 'utc' }).plus({ days: mostDaysAhead });
  const last = lastFrom(today);
  if (day <= last) return null;
  if (day <= lastFrom(serviceToday))
    return {
      problem: `is more than ${mostDaysAhead} days ahead of ${today}, the day by this machine's clock; the service's says ${serviceToday}`,
      fix: 'set the clock of this machine right, then drop the file again',
    };
  return {
    problem: `is more than ${mostDaysAhead} days ahead`,
    fix: `write a day until ${last.toISODate() ?? ''}; one that is further away belongs into a later file`,
  };
}

/** `Friday 27 Nov 2026`. */
export function payDayText(day: string): string {
  return DateTime.fromISO(day, { zone: 'utc', locale: 'en' }).toFormat('cccc d LLL yyyy');
}
