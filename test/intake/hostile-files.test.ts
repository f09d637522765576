import { expect, it } from 'vitest';
import { dropFiles } from '../fuzz/hostile-files.ts';

it('takes or refuses each of 200 hostile files in a sentence, as check foretold, and crashes at none', async () => {
  const { problems, runs, taken, refused } = await dropFiles({ runs: 200, seed: 20261121 });
  expect(problems).toEqual([]);
  expect(taken + refused).toBe(runs);
  expect(Math.min(taken, refused)).toBeGreaterThan(20);
});
