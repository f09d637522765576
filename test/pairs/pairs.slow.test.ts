import { expect, it } from 'vitest';
import { runPairs } from './child.ts';
import { allPlays } from './plays.ts';

it('nobody is paid twice, nothing is lost, false or stuck in a larger share of the plays', async () => {
  const { failed, idle, run, seconds } = await runPairs([
    '--share',
    '3/50',
    '--seconds',
    '90',
    '--threads',
    '2',
  ]);
  process.stdout.write(`pairs: ${run} plays in ${seconds.toFixed(0)} s\n`);
  expect(failed).toBeNull();
  expect(idle).toEqual([]);
  expect(run).toBeGreaterThan(0);
}, 600_000);

it('a number always plays the same play', async () => {
  const name = 'verb: hold × post: 429 with envelope, at once';
  const again = ['--only', `${allPlays().find((one) => one.name === name)?.number}`];
  const [first, second] = [await runPairs(again), await runPairs(again)];
  expect(first.run).toBe(1);
  expect(second.hash).toBe(first.hash);
}, 120_000);
