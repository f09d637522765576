import { expect, it } from 'vitest';
import { dayOf, payableThrough, payDayFinding, payDayText } from '../../../src/core/domain/pay-day.ts';

const zone = 'Africa/Lagos';
const evening = '2026-11-27T23:30:00.000Z';

it('an instant is on the day of its zone, in either form', () => {
  expect([dayOf(evening, zone), dayOf(evening, 'UTC')]).toEqual(['2026-11-28', '2026-11-27']);
  expect(dayOf(Date.parse(evening), zone)).toBe('2026-11-28');
  expect(dayOf('never', zone)).toBe('');
});

it('P38: a day may go once both clocks have reached it', () => {
  const through = (serviceNow: number | null | undefined): string =>
    payableThrough({ at: evening, serviceNow }, zone);
  expect(through(Date.parse('2026-11-26T12:00:00Z')), 'ours is ahead').toBe('2026-11-26');
  expect(through(Date.parse('2026-11-30T12:00:00Z')), 'the service is ahead').toBe('2026-11-28');
  expect(through(null), 'the service names no time').toBe('2026-11-28');
  expect(through(undefined), 'the service has not answered yet').toBe('');
});

it.each([
  ['', null],
  ['2020-01-01', null],
  ['2027-11-28', null],
  ['27/11/2026', 'expected a date as YYYY-MM-DD'],
  ['2026-11-27T12:00', 'expected a date as YYYY-MM-DD'],
  ['2026-02-30', 'is no day of the calendar'],
  ['2027-11-29', 'is more than 366 days ahead'],
])('P38: finds fault with the day "%s": %s', (day, problem) => {
  expect(payDayFinding(day, '2026-11-27')?.problem ?? null).toBe(problem);
});

it('P38: says until when a day may be, by the clock that allows less', () => {
  expect(payDayFinding('2027-11-29', '2026-11-27')?.fix).toContain('write a day until 2027-11-28;');
  expect(payDayFinding('27 Nov', '2026-11-27')?.fix).toContain('for example 2026-11-27');
  const behind = payDayFinding('2027-11-29', '2026-11-27', '2026-11-28');
  expect(behind?.problem).toContain("the day by this machine's clock; the service's says 2026-11-28");
  expect(payDayFinding('2027-11-30', '2026-11-27', '2026-11-28')?.problem).toBe(
    'is more than 366 days ahead',
  );
});

it('writes a day with its weekday', () => {
  expect(payDayText('2026-11-27')).toBe('Friday 27 Nov 2026');
});
