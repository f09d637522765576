import { expect, it } from 'vitest';
import { daysUntil } from '../../../src/books/figures.ts';
import { readMonth } from '../../../src/books/statement/months.ts';
import { dayAt } from '../../../src/sending/daily-limit.ts';

const hour = 3_600_000;

/** The first minute at which the zone's calendar shows a day, by looking at each minute around it. */
function firstMinuteOf(day: string, zone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone });
  let at = Date.parse(`${day}T00:00:00Z`) - 16 * hour;
  while (format.format(at) < day) at += 60_000;
  return new Date(at).toISOString();
}

/** Days whose midnight happens twice or does not exist, each with the day after it. */
const changes = [
  ['America/Havana', '2026-11-01', '2026-11-02'],
  ['Atlantic/Azores', '2026-10-25', '2026-10-26'],
  ['America/Havana', '2026-03-08', '2026-03-09'],
  ['Africa/Cairo', '2026-04-24', '2026-04-25'],
  ['Asia/Beirut', '2026-03-29', '2026-03-30'],
  ['Africa/Cairo', '2026-10-29', '2026-10-30'],
  ['Africa/Casablanca', '2026-02-15', '2026-02-16'],
  ['Australia/Lord_Howe', '2026-10-04', '2026-10-05'],
] as const;

it.each(changes)('P21: in %s every instant of %s counts for one day of the limit', (zone, day, after) => {
  const [beginsAt, endsAt] = [firstMinuteOf(day, zone), firstMinuteOf(after, zone)];
  for (let at = Date.parse(beginsAt); at < Date.parse(endsAt); at += hour / 2) {
    // Another day between, since the last one is kept.
    dayAt('2026-01-01T12:00:00.000Z', zone);
    expect(dayAt(new Date(at).toISOString(), zone)).toMatchObject({ day, beginsAt, endsAt });
  }
});

it.each(changes)('in %s the figures of %s begin with its first minute', (zone, day, after) => {
  const days = daysUntil(new Date(Date.parse(firstMinuteOf(after, zone)) + hour).toISOString(), zone);
  for (const { day, begins } of days) expect([day, begins]).toEqual([day, firstMinuteOf(day, zone)]);
  const fromDay = daysUntil(new Date(Date.parse(firstMinuteOf(day, zone)) + hour / 2).toISOString(), zone);
  for (const { day, begins } of fromDay) expect([day, begins]).toEqual([day, firstMinuteOf(day, zone)]);
});

it('a month that ends where midnight happens twice ends where the next one begins', () => {
  const [october, november] = [
    readMonth('2026-10', 'America/Havana'),
    readMonth('2026-11', 'America/Havana'),
  ];
  expect(november?.startsAt).toBe('2026-11-01T04:00:00.000Z');
  expect(october?.endsAt).toBe(november?.startsAt);
});
