import { expect, it } from 'vitest';
import { dropFiles } from '../fuzz/hostile-files.ts';
import { repeats } from '../support/repeats.ts';

it('takes or refuses each hostile file in a sentence, as check foretold, and crashes at none', async () => {
  const { problems, runs, taken, refused } = await dropFiles({ runs: repeats() ? 200 : 40, seed: 20261121 });
  expect(problems).toEqual([]);
  expect(taken + refused).toBe(runs);
  expect(Math.min(taken, refused)).toBeGreaterThan(runs / 10);
});
