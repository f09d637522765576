import { expect, it } from 'vitest';
import { graceBegan, graceEnds } from '../../../src/core/domain/grace.ts';

const at = (minutes: number): string => new Date(Date.UTC(2026, 10, 21, 12, minutes)).toISOString();

it('P28: a send must have ended so long before the list was read, by the earlier of the two clocks', () => {
  expect(graceBegan(at(0), at(5), 30)).toBe(at(-30));
  expect(graceBegan(at(5), at(0), 30)).toBe(at(-30));
});

it('P33: what is stamped so long after the reading began has a stamp of a wrong clock', () => {
  expect(graceEnds(at(0), 30)).toBe(at(30));
});
