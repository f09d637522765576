import { expect, it } from 'vitest';
import {
  bothSaw,
  createOrderWatch,
  edgeOf,
  pagesSaved,
  sentInside,
  unreadableTime,
} from '../../../src/core/domain/list-order.ts';

const at = (day: number): string => `2026-11-${String(day).padStart(2, '0')}T12:00:00.000Z`;

function seen(...created: string[]) {
  const watch = createOrderWatch();
  for (const one of created) watch.row(one === '' ? unreadableTime : Date.parse(one));
  return watch.seen();
}

it('P29: sees which order a walk showed, and none where the rows do not tell', () => {
  expect(seen(at(3), at(2), at(2), at(1))).toBe('newest_first');
  expect(seen(at(1), at(2))).toBe('oldest_first');
  expect(seen(at(1), at(3), at(2))).toBe('other');
  expect(seen(at(2), '', at(1))).toBe('other');
  expect(seen('')).toBe('other');
  expect(seen(at(1))).toBe(null);
  expect(seen(at(1), at(1))).toBe(null);
});

it('P29: an order holds up to the first row that breaks it', () => {
  const watch = createOrderWatch();
  for (const day of [3, 2]) watch.row(Date.parse(at(day)));
  expect([watch.held('newest_first'), watch.held('oldest_first')]).toEqual([true, false]);
});

it('P29: an order counts only when both agreeing walks saw it', () => {
  expect(bothSaw('newest_first', 'newest_first')).toBe('newest_first');
  expect(bothSaw('newest_first', 'oldest_first')).toBe('other');
  expect(bothSaw('newest_first', null)).toBe(null);
  expect(bothSaw(null, 'newest_first')).toBe(null);
});

it('P29: the edge lies window_days back, or where the base listing or the oldest open payout demands, less clock skew', () => {
  const facts = { begunAt: at(20), windowDays: 7, baseCut: at(19), oldestOpenAt: null };
  expect(edgeOf(facts)).toBe('2026-11-13T11:55:00.000Z');
  expect(edgeOf({ ...facts, oldestOpenAt: at(2) })).toBe('2026-11-02T11:55:00.000Z');
  expect(edgeOf({ ...facts, oldestOpenAt: at(18) })).toBe('2026-11-13T11:55:00.000Z');
  expect(edgeOf({ ...facts, baseCut: at(5) })).toBe('2026-11-05T11:55:00.000Z');
  expect(sentInside(edgeOf(facts))).toBe(at(13));
});

it('P29: a short cut must save at least one page', () => {
  expect(pagesSaved('newest_first', { older: 100, perPage: 50, lastPage: 9 })).toBe(1);
  expect(pagesSaved('newest_first', { older: 99, perPage: 50, lastPage: 9 })).toBe(0);
  expect(pagesSaved('oldest_first', { older: 100, perPage: 50, lastPage: 9 })).toBe(0);
  expect(pagesSaved('newest_first', { older: 500, perPage: 50, lastPage: 3 })).toBe(1);
  expect(pagesSaved('newest_first', { older: 3, perPage: 0, lastPage: 9 })).toBe(2);
  expect(pagesSaved('oldest_first', { older: 150, perPage: 50, lastPage: 9 })).toBe(1);
});
