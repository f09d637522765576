import { expect, it } from 'vitest';
import { ladderDelayMs, ladderRanges, rungsIn } from '../../../src/core/domain/ladder.ts';

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

it('P16, P19: the quiet period holds four rungs, then one an hour; a daemon that stood still skips none', () => {
  expect([0, 60 * minute, 120 * minute - 1, 120 * minute, day].map(rungsIn)).toEqual([4, 4, 4, 5, 27]);
  expect(ladderDelayMs(26, 2 * day, day)).toBe(60 * minute);
  expect(ladderDelayMs(27, 2 * day, day)).toBe(day);
});

it('P33: the ranges of rungs say the longest wait of each', () => {
  expect(ladderRanges(day)).toEqual([
    { from: 0, to: 1, mostMs: minute },
    { from: 1, to: 2, mostMs: 4 * minute },
    { from: 2, to: 3, mostMs: 10 * minute },
    { from: 3, to: 4, mostMs: 45 * minute },
    { from: 4, to: 27, mostMs: 60 * minute },
    { from: 27, to: null, mostMs: day },
  ]);
});
