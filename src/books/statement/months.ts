import { DateTime } from 'luxon';
import { startOfDay } from '../../core/domain/local-day.ts';

/** A calendar month as stored instants (ISO UTC): the first one in it, and the first one after it. */
export type Month = { month: string; startsAt: string; endsAt: string };

/** The month `2026-10` as `zone` has it, its days of 23 or 25 hours too; null where the text names no month. */
export function readMonth(text: string, zone: string): Month | null {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return null;
  const first = DateTime.fromISO(`${text}-01`, { zone });
  const startsAt = startOfDay(first).toUTC().toISO();
  const endsAt = startOfDay(first.plus({ months: 1 }))
    .toUTC()
    .toISO();
  return startsAt === null || endsAt === null ? null : { month: text, startsAt, endsAt };
}

/** The month after `2026-12` is `2027-01`. */
export function monthAfter(month: string): string {
  return DateTime.fromISO(`${month}-01`, { zone: 'utc' }).plus({ months: 1 }).toFormat('yyyy-LL');
}
