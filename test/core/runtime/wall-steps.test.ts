import { expect, it } from 'vitest';
import type { Clock } from '../../../src/core/runtime/clock.ts';
import { watchWallSteps } from '../../../src/core/runtime/wall-steps.ts';

/** Each sleep lets both clocks go on by what was asked, and the wall clock step by the next of `steps`. */
async function stepsSeen(steps: number[]): Promise<number[]> {
  const stop = new AbortController();
  let monotonic = 0;
  let wall = Date.parse('2026-11-22T10:00:00Z');
  const clock: Clock = {
    now: () => wall,
    iso: () => new Date(wall).toISOString(),
    monotonic: () => monotonic,
    async sleep(ms) {
      const step = steps.shift();
      if (step === undefined) stop.abort();
      monotonic += ms;
      wall += ms + (step ?? 0);
    },
  };
  const seen: number[] = [];
  await watchWallSteps(clock, { signal: stop.signal, onStep: async (ms) => void seen.push(ms) });
  return seen;
}

it('P33: a step of the wall clock of more than five seconds is noticed, in either direction, once', async () => {
  expect(await stepsSeen([0, -3_600_000, 0, 0, 6000, 0])).toEqual([-3_600_000, 6000]);
});

it('P33: what NTP corrects is no step, however often', async () => {
  expect(await stepsSeen([5000, -5000, ...Array<number>(20).fill(400)])).toEqual([]);
});
