import { expect, it } from 'vitest';
import { ladderDelayMs } from '../../../src/core/domain/ladder.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

it('P19: look-ups come 1, 5, 15 and 60 minutes after the outcome became unknown', () => {
  const at: number[] = [];
  for (const rung of [0, 1, 2, 3]) at.push((at.at(-1) ?? 0) + ladderDelayMs(rung));
  expect(at).toEqual([1, 5, 15, 60].map((minutes) => minutes * minute));
});

it('P19: then hourly to the end of the quiet period, then daily without end', () => {
  expect(ladderDelayMs(4, 60 * minute, day)).toBe(60 * minute);
  expect(ladderDelayMs(30, day - 1, day)).toBe(60 * minute);
  expect(ladderDelayMs(30, day, day)).toBe(day);
  expect(ladderDelayMs(5000, 300 * day, day)).toBe(day);
});
