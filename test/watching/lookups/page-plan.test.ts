import { expect, it } from 'vitest';
import {
  corrected,
  expectedPage,
  type ListShape,
  nextPage,
} from '../../../src/watching/lookups/page-plan.ts';

const shape: ListShape = { perPage: 50, order: 'newest_first', total: 1000, shift: 0 };
const of = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

it('expects a transfer on the page that as many later transfers leave it', () => {
  expect([0, 49, 50, 149].map((sends) => expectedPage(shape, sends))).toEqual([1, 1, 2, 3]);
  expect(expectedPage({ ...shape, shift: 100 }, 0), 'others made 100 since').toBe(3);
  expect(expectedPage({ ...shape, order: 'oldest_first' }, 0), 'the newest is on the last page').toBe(20);
});

it('reads pages in their order, each once, and only those that answer five questions or more', () => {
  const sends = [...of(40, 44), ...of(60, 80), ...of(200, 240)];
  expect(nextPage(shape, sends, new Set())).toBe(2);
  expect(nextPage(shape, sends, new Set([2]))).toBe(5);
  expect(nextPage(shape, sends, new Set([2, 5]))).toBeUndefined();
});

it('learns from a page how far transfers of others have moved ours', () => {
  const page = { perPage: 25, total: 400, order: 'newest_first' as const };
  const placed = [30, 31, 32].map((place) => ({ place, sendsSince: place - 12 }));
  expect(corrected(shape, page, placed)).toEqual({ ...page, shift: 12 });
  expect(corrected(shape, page, []), 'a page without ours teaches nothing').toBeUndefined();
});
