import { expect, it } from 'vitest';
import { growingPause, longestPauseMs } from '../../../src/core/domain/pause.ts';

it('a pause doubles with each try, up to an hour', () => {
  expect([1, 2, 3, 4].map((tries) => growingPause(1000, tries))).toEqual([1000, 2000, 4000, 8000]);
  expect(longestPauseMs).toBe(60 * 60_000);
  expect([growingPause(1000, 13), growingPause(1, 5000)]).toEqual([longestPauseMs, 2 ** 20]);
});

it('a pause is at least what the other side asks for, and never longer than an hour', () => {
  expect(growingPause(1000, 1, 5000)).toBe(5000);
  expect(growingPause(1000, 4, 5000)).toBe(8000);
  expect(growingPause(0, 1)).toBe(0);
  expect(growingPause(1000, 1, 2 * longestPauseMs)).toBe(longestPauseMs);
});
