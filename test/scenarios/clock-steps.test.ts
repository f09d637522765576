import { expect, it } from 'vitest';
import { batchOf } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { shiftedClock } from '../support/shifted-clock.ts';

const hour = 3_600_000;

it('P33: submit and reconcile do not wait for the time that a clock an hour ahead reserved', async () => {
  const home = await makeHome({ settleMs: 600_000 }, { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '20' });
  const clock = shiftedClock();
  clock.shift(hour / 2);
  expect((await home.start(['submit', home.put('one.csv', batchOf(3))], clock.env).done).code).toBe(0);
  const began = performance.now();
  await home.json(['submit', home.put('two.csv', batchOf(3, 4))], 0);
  await home.sandbox.settleAll();
  await home.run(['reconcile']);
  expect(performance.now() - began).toBeLessThan(30_000);
  expect(home.sandbox.requests.posts).toBe(6);
});
