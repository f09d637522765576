import { expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { batchOf, references, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { everySecond, serving } from '../support/serving.ts';

/** Once a week, on a day that is neither today nor yesterday anywhere. */
const otherDay = `0 9 * * ${(new Date().getUTCDay() + 3) % 7}`;

it.each([
  ['is empty', ''],
  ['is weekly and today is not its day', otherDay],
])(
  'serve sends nothing where schedules.submit %s: not at its start, not what it takes in',
  async (_, submit) => {
    const home = await makeHome({ settleMs: 600_000 });
    await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(5))], 0);
    const { daemon } = await serving(home, {
      COUNTERFOIL_SCHEDULES_SUBMIT: submit,
      COUNTERFOIL_SCHEDULES_INTAKE: everySecond,
    });
    home.put('data/inbox/more.csv', batchOf(5, 6));
    // A file on its way to the archive is a promise that is not kept yet: exit code 4 for a moment.
    await until(
      10_000,
      async () => (await home.run(['status', '--json'])).out,
      (out) => out.includes('"payouts":{"ready":10},"totals"') && out.includes('"waits":[]'),
    );
    expect((await home.json(['status'], 0)).payouts).toEqual({ ready: 10 });
    // Sending would begin within milliseconds of either.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(home.sandbox.requests.posts).toBe(0);
    await home.json(['submit'], 0);
    expect(references(10).map((r) => home.sandbox.requests.bodies(r))).toEqual(Array(10).fill(1));
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
  },
);

it('the first run of the schedule sends what lay ready, and what serve takes in after it', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(2))], 0);
  await serving(home, {
    COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
    COUNTERFOIL_SCHEDULES_INTAKE: everySecond,
  });
  home.put('data/inbox/more.csv', batchOf(2, 3));
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (n) => n === 4,
  );
});

it('serve that gets no answer from the service says so, and sends by itself when there is one', async () => {
  const home = await makeHome({ settleMs: 600_000 }, { COUNTERFOIL_SCHEDULES_SUBMIT: everySecond });
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(2))], 0);
  const { url, keys } = home.sandbox;
  await home.sandbox.stop();
  await serving(home);
  const told = await until(
    10_000,
    () => home.run(['status']),
    ({ out }) => out.includes('gave no list; nothing was sent'),
  );
  expect(told).toMatchObject({ code: 4, out: expect.not.stringContaining('Needs a person: nothing') });
  const back = await createSandbox({ port: Number(new URL(url).port), keys: { test: keys.test } });
  onTestFinished(() => back.stop());
  await until(
    10_000,
    () => back.requests.posts,
    (n) => n === 2,
  );
  await until(
    5000,
    () => home.run(['status']),
    ({ code }) => code === 0,
  );
});
