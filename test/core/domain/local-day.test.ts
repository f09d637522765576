import { DateTime } from 'luxon';
import { expect, it } from 'vitest';
import { dayOrInstant, firstInstantOf, startOfDay } from '../../../src/core/domain/local-day.ts';

const havana = 'America/Havana';

it.each([
  ['2026-11-21', 'Africa/Lagos', '2026-11-20T23:00:00.000Z'],
  ['2026-11-21T12:00', 'Africa/Lagos', '2026-11-21T11:00:00.000Z'],
  ['2026-11-21T12:00Z', 'Africa/Lagos', '2026-11-21T12:00:00.000Z'],
  ['2026-11-01T00:30', havana, '2026-11-01T04:30:00.000Z'],
  ['2026-11-01T00:30-05:00', havana, '2026-11-01T05:30:00.000Z'],
  ['21/11/2026', 'UTC', null],
  ['2026-W47', 'UTC', null],
  ['2026-02-30', 'UTC', null],
])('reads %s in %s as %s', (text, zone, instant) => {
  expect(dayOrInstant(text, zone)).toBe(instant);
});

it('of a local time that is there twice the first instant counts', () => {
  const second = DateTime.fromISO('2026-11-01T05:30:00Z', { zone: havana });
  expect(firstInstantOf(second).toUTC().toISO()).toBe('2026-11-01T04:30:00.000Z');
  expect(startOfDay(second).toUTC().toISO()).toBe('2026-11-01T04:00:00.000Z');
});
