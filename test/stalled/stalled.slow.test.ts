import { expect, it } from 'vitest';
import { runStalled } from './stalled.ts';

it('P34: 20 uploads that stall and go on are paid whole and once, and nothing is paid from a part of one', async () => {
  const figures = await runStalled({
    count: 20,
    parallel: 20,
    settleSeconds: 1,
    seed: 20261121,
    patienceMs: 20_000,
    say: () => {},
  });
  expect(figures).toMatchObject({ uploads: 20, fromPartial: 0, paidTwice: 0, missing: 0 });
  expect(Math.min(figures.longStalls, figures.keptOpen)).toBeGreaterThan(3);
}, 90_000);
