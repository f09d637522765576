import { join } from 'node:path';
import { expect, it } from 'vitest';
import { endWorker, openWorkers } from '../../src/core/runtime/workers.sql.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, type Done, type Home, references, sum, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { everySecond, serving } from '../support/serving.ts';

const busily = {
  COUNTERFOIL_SCHEDULES_INTAKE: everySecond,
  COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
  COUNTERFOIL_SCHEDULES_FOLLOW_UP: everySecond,
};

const bodiesOf = (home: Home, names: string[]): number[] =>
  names.map((reference) => home.sandbox.requests.bodies(reference));

/** Runs a command again and again, each time in a process of its own, until told to stop. */
function again(home: Home, args: string[]) {
  const ends: Done[] = [];
  let stopped = false;
  const work = async (): Promise<void> => {
    while (!stopped) ends.push(await home.start(args).done);
  };
  const done = work();
  return {
    ends,
    stop: () => {
      stopped = true;
      return done;
    },
  };
}

it('P1: serve, two submits, reconcile, hold and release at once on one ledger: every payout goes out once', async () => {
  const home = await makeHome({ latencyMs: 5 });
  const { daemon } = await serving(home, busily, home.start);
  const count = 400;
  const half = count / 2;
  home.put('data/inbox/one.csv', batchOf(half));
  home.put('data/inbox/two.csv', batchOf(half, half + 1));
  const busy = [
    again(home, ['submit', '--json']),
    again(home, ['submit', '--json']),
    again(home, ['reconcile', '--json']),
  ];
  const taken = await until(
    20_000,
    () => home.run(['status', '--json']),
    ({ out }) => out !== '' && JSON.parse(out).batches.length > 0,
  );
  const [{ batch }] = JSON.parse(taken.out).batches;
  for (let i = 0; i < 3; i++) {
    expect((await home.run(['hold', batch])).code).toBe(0);
    expect((await home.run(['release', batch])).code).toBe(0);
  }
  const status = await until(
    60_000,
    async () => JSON.parse((await home.run(['status', '--json'])).out),
    ({ payouts }) => sum(payouts) === count && payouts.success === count,
  );
  expect(status.payouts).toEqual({ success: count });
  await Promise.all(busy.map((one) => one.stop()));
  const codes = busy.flatMap((one) => one.ends).filter(({ code }) => code !== 0 && code !== 4);
  expect(codes.map(({ code, err }) => `${code} ${err}`)).toEqual([]);
  expect(bodiesOf(home, references(count))).toEqual(Array(count).fill(1));
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
}, 90_000);

it('a second reconcile and a second serve beside the first end with 11', async () => {
  const home = await makeHome({ latencyMs: 600 });
  await home.json(['submit', home.put('pay.csv', batchOf(3))], 0);
  const first = home.start(['reconcile', '--json']);
  const posts = home.sandbox.requests.posts;
  await new Promise((resolve) => setTimeout(resolve, 900));
  const second = await home.start(['reconcile']).done;
  expect(second.code, second.err).toBe(11);
  expect([0, 4]).toContain((await first.done).code);
  expect(home.sandbox.requests.posts).toBe(posts);
  await serving(home, {}, home.start);
  expect((await home.run(['serve'])).code).toBe(11);
});

it('P3: a killed sender is taken over within seconds: what it was sending is unknown, never ready, and goes out once', async () => {
  const home = await makeHome({ latencyMs: 1500, settleMs: 600_000 });
  const first = home.start(['submit', home.put('pay.csv', batchOf(32))]);
  // The service counts a POST when it answers: after the first answer eight more are under way for as long again.
  await until(
    15_000,
    () => home.sandbox.requests.posts,
    (posts) => posts >= 1,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  first.signal('SIGKILL');
  await first.done;
  const before = JSON.parse((await home.run(['status', '--json'])).out).payouts;
  expect(before.sending).toBe(8);
  const began = performance.now();
  const { daemon } = await serving(home, busily, home.start);
  const payouts = async () => JSON.parse((await home.run(['status', '--json'])).out).payouts;
  await until(10_000, payouts, ({ unknown = 0 }) => unknown === before.sending);
  expect(performance.now() - began).toBeLessThan(10_000);
  await until(40_000, payouts, ({ sending = 0, ready = 0 }) => sending + ready === 0);
  const bodies = bodiesOf(home, references(32));
  expect(Math.max(...bodies)).toBe(1);
  // The rest went out after the take-over; only what died before its write may be missing.
  expect(bodies.filter((n) => n === 0).length).toBeLessThanOrEqual(before.sending);
  expect((await home.json(['submit'], 4)).batches, 'nothing is left to send').toEqual([]);
  expect(await payouts()).toMatchObject({ unknown: before.sending });
  expect(Math.max(...bodiesOf(home, references(32)))).toBe(1);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
}, 90_000);

it('P3: a daemon that others took for dead stops with 1 and says why, instead of failing for ever', async () => {
  const home = await makeHome();
  const { daemon } = await serving(home, { ...busily, COUNTERFOIL_SCHEDULES_INTAKE: '' }, home.start);
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), {
    now: () => new Date().toISOString(),
  });
  const [serve] = await openWorkers(ledger.db);
  await ledger.write((trx) => endWorker(trx, serve?.id ?? '', new Date().toISOString()));
  await ledger.close();
  await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 0);
  const done = await daemon.done;
  expect(done.code).toBe(1);
  expect(done.err).toMatch(/another process took over worker serve-.*start it again/);
  expect(home.sandbox.requests.posts).toBe(0);
  const status = JSON.parse((await home.run(['status', '--json'])).out);
  expect(status).toMatchObject({ payouts: { ready: 2 }, daemon: { running: false } });
});
