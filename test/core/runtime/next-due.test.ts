import { describe, expect, it } from 'vitest';
import { nextDue } from '../../../src/core/runtime/next-due.ts';
import { repeats, shareOf } from '../../support/repeats.ts';
import { clockChanges, type Span, searchFixedTimes, searchMatches, text, zones } from './due-times-oracle.ts';

const at = (text: string): number => Date.parse(text);
const next = (expression: string, zone: string, after: string): string | undefined =>
  nextDue(expression, zone, at(after))?.toISOString().slice(0, 19);

describe('nextDue', () => {
  it.each([
    ['the first of two hours 02:00', 'Europe/Vienna', '2026-10-25T00:10:30Z', '2026-10-25T00:11:00'],
    ['the second of two hours 02:00', 'Europe/Vienna', '2026-10-25T01:10:30Z', '2026-10-25T01:11:00'],
    ['the end of the first hour', 'Europe/Vienna', '2026-10-25T00:59:30Z', '2026-10-25T01:00:00'],
    [
      'the hour that happens twice in New York',
      'America/New_York',
      '2026-11-01T05:59:30Z',
      '2026-11-01T06:00:00',
    ],
    ['the hour that happens twice in Cairo', 'Africa/Cairo', '2026-10-29T21:30:00Z', '2026-10-29T21:31:00'],
    ['the end of Ramadan in Casablanca', 'Africa/Casablanca', '2027-02-07T02:30:00Z', '2027-02-07T02:31:00'],
  ])('a job of every minute goes on each minute: %s', (_, zone, after, due) => {
    expect(next('* * * * *', zone, after)).toBe(due);
  });

  it.each([
    // The night of the default reconciliation that has no 02:00.
    ['0 2 * * *', 'Europe/Vienna', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00'],
    ['30 2 * * *', 'Europe/Vienna', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00'],
    ['0 3 * * *', 'Europe/Vienna', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00'],
    ['*/10 2 * * *', 'Europe/Vienna', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00'],
    ['30 0 * * *', 'Asia/Beirut', '2026-03-28T12:00:00Z', '2026-03-28T22:00:00'],
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', '2026-10-03T15:30:00'],
    // 23:00 to 24:00 is missing on that Saturday: it runs when Sunday begins.
    ['30 23 * * 6', 'America/Nuuk', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00'],
    // A day that Samoa left out.
    ['0 9 30 12 *', 'Pacific/Apia', '2011-12-29T00:00:00Z', '2011-12-30T10:00:00'],
  ])('%s in %s runs once just after a time that does not exist', (expression, zone, after, due) => {
    expect(next(expression, zone, after)).toBe(due);
    expect(at(next(expression, zone, `${due}Z`) ?? '') - at(`${due}Z`)).toBeGreaterThan(12 * 3_600_000);
  });

  it.each([
    ['30 2 * * *', 'Europe/Vienna', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00'],
    ['30 0 * * *', 'America/Havana', '2026-10-31T12:00:00Z', '2026-11-01T04:30:00'],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00:00Z', '2026-04-04T14:45:00'],
  ])('%s in %s runs once where its time happens twice', (expression, zone, after, due) => {
    expect(next(expression, zone, after)).toBe(due);
    expect(at(next(expression, zone, `${due}Z`) ?? '') - at(`${due}Z`)).toBeGreaterThan(12 * 3_600_000);
  });

  it('knows seconds, nicknames and the last day of a month', () => {
    expect(next('*/20 * * * * *', 'UTC', '2026-11-22T10:00:25Z')).toBe('2026-11-22T10:00:40');
    expect(next('30 0 2 * * *', 'Africa/Lagos', '2026-11-22T01:00:30Z')).toBe('2026-11-23T01:00:30');
    expect(next('@daily', 'Africa/Lagos', '2026-11-22T01:00:30Z')).toBe('2026-11-22T23:00:00');
    expect(next('0 9 L * *', 'Africa/Lagos', '2027-02-01T00:00:00Z')).toBe('2027-02-28T08:00:00');
    expect(next('0 0 29 2 *', 'UTC', '2096-02-29T00:00:00Z')).toBe('2104-02-29T00:00:00');
    expect(nextDue('', 'UTC', 0)).toBeNull();
  });

  it('finds a time of next year faster than node-cron matches three days of minutes', () => {
    const took = (work: () => unknown): number => {
      const began = performance.now();
      work();
      return performance.now() - began;
    };
    const from = at('2026-01-01T00:00:00Z');
    const days = { from, to: from + 3 * 24 * 3_600_000 };
    const plain = took(() => searchMatches('0 0 1 1 *', 'Europe/Vienna', days));
    const tries = [1, 2, 3].map(() => took(() => nextDue('0 0 1 1 *', 'Europe/Vienna', from)));
    expect(Math.min(...tries)).toBeLessThan(plain);
  });
});

/** Every due time of a span, one after the other. */
function dueTimes(expression: string, zone: string, { from, to }: Span): string[] {
  const found: string[] = [];
  for (let at = nextDue(expression, zone, from, to); at; at = nextDue(expression, zone, at.getTime(), to))
    found.push(text(at.getTime()));
  return found;
}

const fixed: [string, string[]][] = [
  ['0 2 * * *', ['02:00']],
  ['30 23,0 * * *', ['23:30', '00:30']],
  ['15,45 0-3 * * *', ['00:15', '00:45', '01:15', '01:45', '02:15', '02:45', '03:15', '03:45']],
];
const days = 24 * 3_600_000;
const tenYears = { from: at('2024-01-01T00:00:00Z'), to: at('2034-01-01T00:00:00Z') };

/** A span around each clock change; without any, the first days. The slow file looks at each day of the ten years too. */
function spansOf(zone: string): { whole: Span[]; changes: Span[] } {
  const looked = repeats() ? tenYears : { from: at('2026-01-01T00:00:00Z'), to: at('2027-01-01T00:00:00Z') };
  const changes = [looked.from + days, ...clockChanges(zone, looked)];
  const around = (each: number): Span[] => changes.map((at) => ({ from: at - each, to: at + each }));
  return { whole: repeats() ? [tenYears] : around(days), changes: around(days / 8) };
}

it.each(shareOf(zones, 10, 4))(
  '%s: the due times are those of a plain search',
  { timeout: 300_000 },
  (zone) => {
    const { whole, changes } = spansOf(zone);
    for (const [expression, times] of fixed)
      for (const span of expression === '0 2 * * *' ? whole : changes)
        expect(dueTimes(expression, zone, span), expression).toEqual(searchFixedTimes(times, zone, span));
    for (const expression of ['* * * * *', '*/7 * * * *', '5 0-23 * * 0'])
      for (const span of changes)
        expect(dueTimes(expression, zone, span), expression).toEqual(searchMatches(expression, zone, span));
  },
);
