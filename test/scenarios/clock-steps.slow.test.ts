import { expect, it } from 'vitest';
import { batchOf, type Home, parseJson, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { everySecond, serving } from '../support/serving.ts';
import { shiftedClock } from '../support/shifted-clock.ts';

const hour = 3_600_000;
const schedules = { COUNTERFOIL_SCHEDULES_INTAKE: everySecond, COUNTERFOIL_SCHEDULES_SUBMIT: everySecond };
const posts = (home: Home, count: number): Promise<number> =>
  until(
    15_000,
    () => home.sandbox.requests.posts,
    (n) => n === count,
  );

it.each([
  ['back by an hour', -hour],
  ['back by a year', -365 * 24 * hour],
  ['forward by an hour', hour],
])(
  'P33: serve takes in and sends after its wall clock stepped %s, and says that it stepped',
  async (_, ms) => {
    const home = await makeHome({ settleMs: 600_000 });
    const clock = shiftedClock();
    const slowly = { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '20' };
    const { daemon } = await serving(home, { ...schedules, ...clock.env, ...slowly }, home.start);
    home.put('data/inbox/first.csv', batchOf(2));
    await posts(home, 2);
    clock.shift(ms);
    home.put('data/inbox/second.csv', batchOf(2, 3));
    expect(JSON.parse(await daemon.line(/wall clock stepped/))).toMatchObject({
      step_seconds: Math.round(ms / 1000),
    });
    await posts(home, 4);
    const status = await home.start(['status', '--json'], { ...schedules, ...clock.env }).done;
    const { schedules: runs } = parseJson(status);
    const { next_run_at: next } = runs.find((one: { job: string }) => one.job === 'submit');
    expect(Math.abs(Date.parse(next) - (Date.now() + ms))).toBeLessThan(10_000);
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
  },
);

/** A `serve` in Vienna whose clock starts at `at`, and what `status` says of its schedules. */
async function inVienna(at: string, env: Record<string, string>) {
  const home = await makeHome({ settleMs: 600_000 });
  const clock = shiftedClock();
  clock.shift(Date.parse(at) - Date.now());
  const all = { COUNTERFOIL_SCHEDULES_TIMEZONE: 'Europe/Vienna', ...env, ...clock.env };
  const { daemon } = await serving(home, all, home.start);
  const status = await home.start(['status', '--json'], all).done;
  const runs = new Map<string, { next_run_at: string }>();
  for (const one of parseJson(status).schedules) runs.set(one.job, one);
  return { home, next: (job: string) => runs.get(job)?.next_run_at, stop: () => daemon.signal('SIGTERM') };
}

it.each(['2026-10-25T00:20:00Z', '2026-10-25T01:20:00Z'])(
  'serve goes on within the hour that happens twice, at %s',
  async (at) => {
    const { home, next, stop } = await inVienna(at, {
      ...schedules,
      COUNTERFOIL_SCHEDULES_FOLLOW_UP: '*/5 * * * *',
    });
    for (const job of ['intake', 'follow_up'])
      expect(Date.parse(next(job) ?? '') - Date.parse(at)).toBeLessThan(6 * 60_000);
    home.put('data/inbox/first.csv', batchOf(2));
    await posts(home, 2);
    home.put('data/inbox/second.csv', batchOf(2, 3));
    await posts(home, 4);
    stop();
  },
);

it('serve reconciles in the night that has no 02:00, right after the clock change', async () => {
  const { next, stop } = await inVienna('2026-03-28T20:00:00Z', {
    COUNTERFOIL_SCHEDULES_RECONCILE: '0 2 * * *',
  });
  expect(next('reconcile')).toBe('2026-03-29T01:00:00.000Z');
  stop();
});
