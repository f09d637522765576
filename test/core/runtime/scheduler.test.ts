import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { isOverdue } from '../../../src/core/runtime/job-times.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import {
  createScheduler,
  type JobOutcome,
  type ScheduledJob,
  type Scheduler,
} from '../../../src/core/runtime/scheduler.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

let dir = '';
let ledger: Ledger;
const clock = systemClock();
const log = pino({ level: 'silent' });
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-scheduler-'));
  ledger = await openNewLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
});
afterEach(async () => {
  await ledger.close();
  rmSync(dir, { recursive: true, force: true });
});

const zone = 'Africa/Lagos';
const past = (lastSuccessAt: string | null) => ({ lastSuccessAt });
const succeeded = (runs: number): JobOutcome => ({ kind: 'succeeded', counts: { runs } });

describe('isOverdue', () => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  it.each([
    ['0 2 * * *', '2026-11-21T01:00:05Z', false],
    ['0 2 * * *', '2026-11-21T00:59:59Z', true],
    ['0 3 * * 0', '2026-11-15T02:00:01Z', false],
    ['0 3 * * 0', '2026-11-14T12:00:00Z', true],
    ['0 0 1 1 *', '2026-11-20T00:00:00Z', false],
    ['30 0 2 * * *', '2026-11-20T12:00:00Z', true],
    // Noted by a clock that was set back since.
    ['0 0 1 1 *', '2027-11-20T00:00:00Z', true],
  ])('%s with the last success at %s: %s (Lagos time)', (expression, success, due) => {
    expect(isOverdue(expression, zone, past(success), now)).toBe(due);
  });

  it.each([
    // The night without 02:00: due at 03:00, 01:00 UTC.
    ['0 2 * * *', '2026-03-28T01:00:05Z', '2026-03-29T00:59:00Z', false],
    ['0 2 * * *', '2026-03-28T01:00:05Z', '2026-03-29T01:00:00Z', true],
    ['0 2 * * *', '2026-03-29T01:00:05Z', '2026-03-29T23:59:00Z', false],
    // The night with two: due at the first, and not at the second.
    ['30 2 * * *', '2026-10-24T00:30:05Z', '2026-10-25T00:30:00Z', true],
    ['30 2 * * *', '2026-10-25T00:30:05Z', '2026-10-25T22:00:00Z', false],
    ['* * * * *', '2026-10-25T00:59:05Z', '2026-10-25T01:00:00Z', true],
  ])('%s with the last success at %s, as of %s: %s (Vienna time)', (expression, success, at, due) => {
    expect(isOverdue(expression, 'Europe/Vienna', past(success), Date.parse(at))).toBe(due);
  });

  it('a job that never succeeded is due', () => {
    expect(isOverdue('0 2 * * *', zone, past(null), now)).toBe(true);
  });
});

describe('scheduler', () => {
  const schedulerOf = (jobs: ScheduledJob[]): Scheduler =>
    createScheduler({
      jobs,
      timezone: zone,
      clock,
      jobsStore: createJobsStore(ledger),
      log,
      worker: 'serve-1',
      isAlive: async () => true,
    });
  const run = async (jobs: ScheduledJob[]): Promise<void> => {
    const scheduler = schedulerOf(jobs);
    await scheduler.start();
    await scheduler.stop();
  };

  it('logs a run that was missed while nothing ran, and not one that never ran', async () => {
    const lines: { event?: string; job?: string; last_success_at?: string }[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const jobs = ['report', 'intake'].map((name) => {
      return { name, expression: '0 * * * *', run: async () => succeeded(1) };
    });
    const jobsStore = createJobsStore(ledger);
    const at = '2026-11-01T12:00:00.000Z';
    await jobsStore.begin('report', { at, since: at, by: 'serve-0', expression: '0 * * * *', again: false });
    await jobsStore.finished('report', { startedAt: at, endedAt: at, kind: 'succeeded', result: {} });
    const isAlive = async (): Promise<boolean> => false;
    const scheduler = createScheduler({ jobs, timezone: zone, clock, jobsStore, log, worker: 'w', isAlive });
    await scheduler.start();
    await scheduler.stop();
    expect(lines).toMatchObject([{ event: 'schedule_missed', job: 'report', last_success_at: at }]);
  });

  it('notes no end of a run that stood still over the one that another process began since', async () => {
    const jobsStore = createJobsStore(ledger);
    const [monday, thursday] = ['2026-11-16T12:00:00.000Z', '2026-11-19T12:00:00.000Z'];
    const begin = (at: string, by: string): Promise<boolean> =>
      jobsStore.begin('intake', { at, since: at, by, expression: '0 * * * *' });
    expect([await begin(monday, 'serve-1'), await begin(thursday, 'serve-2')]).toEqual([true, true]);
    const end = { endedAt: thursday, kind: 'succeeded' as const, result: { taken: 1 } };
    await jobsStore.finished('intake', { startedAt: monday, ...end });
    expect(await jobsStore.find('intake')).toMatchObject({
      runner: 'serve-2',
      kind: 'running',
      lastSuccessAt: null,
    });
    await jobsStore.finished('intake', { startedAt: thursday, ...end });
    expect(await jobsStore.find('intake')).toMatchObject({ runner: null, lastSuccessAt: thursday });
  });

  it('takes back a success whose work ended otherwise, whichever is noted first, and tries it again', async () => {
    const jobsStore = createJobsStore(ledger);
    const began = new Date(clock.now() - 30 * 60_000).toISOString();
    const ended = new Date(clock.now() - 20 * 60_000).toISOString();
    const end = { startedAt: began, endedAt: ended };
    const success = { ...end, kind: 'succeeded' as const, result: {} };
    const trouble = { ...end, kind: 'incomplete' as const, result: { why: 'the service was silent' } };
    for (const order of [
      [() => jobsStore.finished('submit', success), () => jobsStore.corrected('submit', trouble)],
      [() => jobsStore.corrected('submit', trouble), () => jobsStore.finished('submit', success)],
    ]) {
      await jobsStore.note('submit', { at: began, by: 'serve-0', expression: '0 9 * * *' });
      for (const note of order) await note();
      expect(await jobsStore.find('submit')).toMatchObject({ kind: 'incomplete', runner: null });
    }
    let runs = 0;
    const job = {
      name: 'submit',
      expression: '0 9 * * *',
      triesAgain: true,
      run: async () => succeeded(++runs),
    };
    const scheduler = schedulerOf([job]);
    await scheduler.makeUp();
    await scheduler.stop();
    expect(runs).toBe(1);
  });

  it('catches up at start what came due while nobody ran it, once, and notes the result', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => succeeded(++runs) };
    await run([job]);
    await run([job]);
    expect(runs).toBe(1);
    expect(await createJobsStore(ledger).all()).toMatchObject([
      { job: 'reconcile', lastResult: '{"runs":1}' },
    ]);
  });

  it('an empty expression neither runs nor catches up', async () => {
    await run([{ name: 'submit', expression: '', run: () => Promise.reject(new Error('must not run')) }]);
    expect(await createJobsStore(ledger).all()).toEqual([]);
  });

  it('a failure is noted, is no success, and is tried again at the next start', async () => {
    let runs = 0;
    const job = {
      name: 'report',
      expression: '0 0 1 1 *',
      run: () => Promise.reject(new Error(`broken ${++runs}`)),
    };
    await run([job]);
    await run([job]);
    expect(await createJobsStore(ledger).all()).toMatchObject([
      { kind: 'failed', lastResult: '{"error":"broken 2"}', lastSuccessAt: null },
    ]);
  });

  it('tells the next run of each job in its zone', async () => {
    const jobs = ['0 2 * * *', ''].map((expression, index) => ({
      name: `job-${index}`,
      expression,
      run: async () => succeeded(1),
    }));
    const scheduler = schedulerOf(jobs);
    await scheduler.start();
    const [nightly, off] = scheduler.nextRuns();
    await scheduler.stop();
    expect(nightly?.nextRunAt).toMatch(/T01:00:00\.000Z$/);
    expect(off?.nextRunAt).toBeNull();
  });
});

describe('a run that did not do its work', () => {
  const minute = 60_000;
  /** A scheduler whose clock is moved by hand, and the instants at which its job began. */
  async function tried(outcomes: JobOutcome['kind'][]) {
    let now = Date.parse('2026-11-22T02:00:30Z');
    const began: number[] = [];
    const byHand = { ...clock, now: () => now, iso: () => new Date(now).toISOString() };
    const job: ScheduledJob = {
      name: 'reconcile',
      expression: '0 0 1 1 *',
      triesAgain: true,
      async run() {
        began.push(now);
        const kind = outcomes.shift() ?? 'succeeded';
        return kind === 'succeeded' ? succeeded(1) : { kind, counts: {}, why: 'the service is down' };
      },
    };
    const store = createJobsStore(ledger);
    const scheduler = createScheduler({
      jobs: [job],
      timezone: zone,
      clock: byHand,
      jobsStore: store,
      log,
      worker: 'serve-1',
      isAlive: async () => true,
    });
    const runs = async (): Promise<void> => {
      // Behind the transaction that a run begins with.
      await ledger.write(async () => undefined);
      await expect.poll(async () => (await store.find('reconcile'))?.kind).not.toBe('running');
    };
    await scheduler.start();
    await runs();
    const start = now;
    return {
      store,
      stop: () => scheduler.stop(),
      set: (at: number) => (now = at),
      /** Lets an hour and more go by, minute by minute; returns the minutes at which the job began. */
      async pass(minutes: number): Promise<number[]> {
        for (let n = 1; n <= minutes; n++) {
          now += minute;
          await scheduler.makeUp();
          await runs();
        }
        return began.map((at) => (at - start) / minute);
      },
    };
  }

  it.each(['incomplete', 'skipped'] as const)(
    '%s: is no success, and is tried again with growing pauses, six times',
    async (kind) => {
      const { store, pass, stop } = await tried(Array(20).fill(kind));
      expect(await store.find('reconcile')).toMatchObject({ kind, lastSuccessAt: null });
      expect(await pass(400)).toEqual([0, 5, 15, 35, 75, 155, 315]);
      expect(await store.find('reconcile')).toMatchObject({ kind, tries: 6 });
      await stop();
    },
  );

  it('is not tried again once it succeeded', async () => {
    const { store, pass, stop } = await tried(['incomplete', 'incomplete']);
    expect(await pass(60)).toEqual([0, 5, 15]);
    expect(await store.find('reconcile')).toMatchObject({
      kind: 'succeeded',
      lastSuccessAt: expect.any(String),
    });
    await stop();
  });

  it('P33: waits no longer because the clock went back', async () => {
    const { set, pass, stop } = await tried(['incomplete']);
    set(Date.parse('2025-11-22T02:00:00Z'));
    expect(await pass(1)).toHaveLength(2);
    await stop();
  });
});

it('P33: after the clock went back, a rebuild runs what is due by it', async () => {
  let offMs = 0;
  let runs = 0;
  const off = {
    ...clock,
    now: () => clock.now() + offMs,
    iso: () => new Date(clock.now() + offMs).toISOString(),
  };
  const store = createJobsStore(ledger);
  const scheduler = createScheduler({
    jobs: [{ name: 'report', expression: '0 0 1 1 *', run: async () => succeeded(++runs) }],
    timezone: zone,
    clock: off,
    jobsStore: store,
    log,
    worker: 'serve-1',
    isAlive: async () => true,
  });
  await scheduler.start();
  await expect.poll(() => runs).toBe(1);
  offMs = -3 * 365 * 86_400_000;
  await scheduler.rebuild();
  await expect.poll(() => runs).toBe(2);
  await scheduler.stop();
});

it('a job that waits when it is new is not made up before its first due time', async () => {
  let runs = 0;
  const job = {
    name: 'submit',
    expression: '0 0 1 1 *',
    waitsWhenNew: true,
    run: async () => succeeded(++runs),
  };
  const scheduler = createScheduler({
    jobs: [job],
    timezone: zone,
    clock,
    jobsStore: createJobsStore(ledger),
    log,
    worker: 'serve-1',
    isAlive: async () => true,
  });
  await scheduler.start();
  await scheduler.stop();
  expect(runs).toBe(0);
});

describe('two daemons on one ledger', () => {
  let other: Ledger;
  beforeEach(async () => {
    other = await openLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
  });
  afterEach(() => other.close());
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 21, 2, 0, second)).toISOString();
  const scheduler = (
    on: Ledger,
    job: ScheduledJob,
    isAlive: (worker: string) => Promise<boolean> = async () => true,
  ) =>
    createScheduler({
      jobs: [job],
      timezone: zone,
      clock,
      jobsStore: createJobsStore(on),
      log,
      worker: on === ledger ? 'serve-1' : 'serve-2',
      isAlive,
    });

  it('of two hosts each run the jobs of their own folders, and one of them a job of the ledger', async () => {
    const hosts = ['one', 'two'].map((id) => ({ id, name: `${id}:/srv/payroll/data` }));
    const stores = hosts.map((host) => createJobsStore(ledger, host));
    const take = (job: string, run: { at: string; since: string }) =>
      Promise.all(stores.map((store) => store.begin(job, { ...run, by: 'serve', expression: '* * * * *' })));
    const due = { at: at(1), since: at(0) };
    expect(await take('intake', due)).toEqual([true, true]);
    expect(await take('report', due)).toEqual([true, true]);
    expect((await take('submit', due)).filter(Boolean)).toHaveLength(1);
    const [one] = stores;
    await one?.finished('intake', { startedAt: at(1), endedAt: at(2), kind: 'failed', result: {} });
    const kinds = (await one?.all())?.flatMap(({ job, place, kind }) =>
      job === 'intake' ? [[place, kind]] : [],
    );
    expect(kinds).toEqual([
      ['one:/srv/payroll/data', 'failed'],
      ['two:/srv/payroll/data', 'running'],
    ]);
    expect((await one?.find('intake'))?.kind).toBe('failed');
  });

  it('forget a host a week after the first time that it missed, and not before', async () => {
    const day = 86_400_000;
    const gone = createJobsStore(ledger, { id: 'gone', name: 'gone:/srv/payroll/data' });
    const begins = (ms: number, expression: string) => {
      const iso = new Date(ms).toISOString();
      return gone.begin(expression === '0 2 1 * *' ? 'report' : 'intake', {
        at: iso,
        since: iso,
        by: 'w',
        expression,
      });
    };
    await begins(clock.now() - 8 * day, '* * * * *');
    await begins(clock.now() - 8 * day, '0 2 1 * *');
    const one = scheduler(ledger, { name: 'intake', expression: '', run: async () => succeeded(1) });
    await one.makeUp();
    expect((await gone.all()).map(({ job }) => job)).toEqual(['report']);
    await begins(clock.now() - 6 * day, '* * * * *');
    await one.makeUp();
    expect((await gone.all()).map(({ job }) => job)).toEqual(['intake', 'report']);
  });

  it('take each due time once, whichever clock is ahead, and a mode takes none from the other', async () => {
    const [one, two] = [createJobsStore(ledger), createJobsStore(other)];
    const taken = await Promise.all(
      [one, two].map((store) =>
        store.begin('report', { at: at(1), since: at(0), by: 'serve-2', expression: '* * * * *' }),
      ),
    );
    expect(taken.filter((took) => took)).toHaveLength(1);
    expect(
      await two.begin('report', { at: at(9), since: at(10), by: 'serve-2', expression: '* * * * *' }),
    ).toBe(true);
    expect(
      await one.begin('report', { at: at(11), since: at(10), by: 'serve-2', expression: '* * * * *' }),
    ).toBe(true);
    expect(
      await two.begin('report', { at: at(12), since: at(10), by: 'serve-2', expression: '* * * * *' }),
    ).toBe(false);
  });

  it('take what is due although a clock that was set back since noted a run far ahead', async () => {
    const store = createJobsStore(ledger);
    await store.begin('report', {
      at: '2027-11-21T02:00:00.000Z',
      since: at(0),
      by: 'serve-2',
      expression: '* * * * *',
    });
    expect(
      await store.begin('report', { at: at(1), since: at(0), by: 'serve-2', expression: '* * * * *' }),
    ).toBe(true);
  });

  it('catch up what both missed once', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => succeeded(++runs) };
    const both = [scheduler(ledger, job), scheduler(other, job)];
    await Promise.all(both.map((one) => one.start()));
    await Promise.all(both.map((one) => one.stop()));
    expect(runs).toBe(1);
  });

  it('leave a run under way to who lives, and make up for who died in it', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => succeeded(++runs) };
    await createJobsStore(other).begin('reconcile', {
      at: clock.iso(),
      since: at(0),
      by: 'serve-2',
      expression: '* * * * *',
    });
    for (const [lives, expected] of [
      [true, 0],
      [false, 1],
    ] as const) {
      const late = scheduler(ledger, job, async () => lives);
      await late.start();
      await late.stop();
      expect(runs).toBe(expected);
    }
  });

  it('make up for who died in a run, and leave alone what ended', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => succeeded(++runs) };
    const dead = new Set<string>();
    const lives = scheduler(ledger, job, async (worker) => !dead.has(worker));
    await createJobsStore(other).begin('reconcile', {
      at: clock.iso(),
      since: at(0),
      by: 'serve-2',
      expression: '* * * * *',
    });
    await lives.start();
    await lives.makeUp();
    expect(runs).toBe(0);
    dead.add('serve-2');
    for (let times = 0; times < 3; times++) {
      await lives.makeUp();
      await expect.poll(() => runs).toBe(1);
      await expect.poll(async () => (await createJobsStore(ledger).all())[0]?.runner).toBeNull();
    }
    await lives.stop();
  });

  it('P33: a due run that a locked ledger did not let begin is made up, and only once', async () => {
    let runs = 0;
    let isLocked = false;
    const store = createJobsStore(ledger);
    const job = {
      name: 'reconcile',
      expression: '* * * * *',
      triesAgain: true,
      run: async () => succeeded(++runs),
    };
    let ring: (due: Date) => void = () => undefined;
    const scheduler = createScheduler({
      ...{ jobs: [job], timezone: zone, clock, log, worker: 'serve-1', isAlive: async () => true },
      jobsStore: {
        ...store,
        begin: (...run) => (isLocked ? Promise.reject(new Error('database is locked')) : store.begin(...run)),
      },
      alarm: (_job, _timezone, then) => {
        ring = then;
        return { next: () => null, cancel: () => undefined };
      },
    });
    await scheduler.start();
    await expect.poll(async () => (await store.find('reconcile'))?.kind).toBe('succeeded');
    isLocked = true;
    ring(new Date(clock.now() + 1));
    await sleep(5);
    isLocked = false;
    for (const _ of [1, 2]) {
      await scheduler.makeUp();
      await expect.poll(() => runs).toBe(2);
      await expect.poll(async () => (await store.find('reconcile'))?.kind).toBe('succeeded');
    }
    await scheduler.stop();
  });

  it('a time that comes while the run before is under way rings late, and once', async () => {
    let runs = 0;
    let end: () => void = () => undefined;
    const underWay = new Promise<void>((done) => {
      end = done;
    });
    const store = createJobsStore(ledger);
    const run = async () => {
      runs += 1;
      if (runs === 1) await underWay;
      return succeeded(runs);
    };
    let ring: (due: Date) => void = () => undefined;
    const scheduler = createScheduler({
      ...{ jobs: [{ name: 'reconcile', expression: '0 2 * * *', run }], timezone: zone, clock, log },
      ...{ worker: 'serve-1', isAlive: async () => true, jobsStore: store },
      alarm: (_job, _timezone, then) => {
        ring = then;
        return { next: () => null, cancel: () => undefined };
      },
    });
    await scheduler.start();
    await expect.poll(async () => (await store.find('reconcile'))?.runner).toBe('serve-1');
    ring(new Date(clock.now() + 1));
    await scheduler.makeUp();
    expect(runs, 'not beside it').toBe(1);
    end();
    await expect.poll(async () => (await store.find('reconcile'))?.kind).toBe('succeeded');
    await sleep(5);
    for (const _ of [1, 2]) {
      await scheduler.makeUp();
      await expect.poll(() => runs).toBe(2);
      await expect.poll(async () => (await store.find('reconcile'))?.lastResult).toBe('{"runs":2}');
    }
    await scheduler.stop();
  });

  it('P33: run once, and at once, when the clock steps a year ahead', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let runs = 0;
    const job = { name: 'submit', expression: '* * * * * *', run: async () => succeeded(++runs) };
    const one = scheduler(ledger, job);
    try {
      await one.start();
      await expect.poll(() => runs).toBe(1);
      vi.setSystemTime(Date.now() + 365 * 24 * 3_600_000);
      const before = performance.now();
      await expect.poll(() => runs, { timeout: 5000 }).toBe(2);
      expect(performance.now() - before).toBeLessThan(4000);
      // The next second may have come meanwhile.
      expect(Date.parse(one.nextRuns()[0]?.nextRunAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
    } finally {
      vi.useRealTimers();
      await one.stop();
    }
  });

  it('run what comes due each second once', async () => {
    const began: number[] = [];
    const job = {
      name: 'submit',
      expression: '* * * * * *',
      run: async () => succeeded(began.push(Math.floor(Date.now() / 1000))),
    };
    const both = [scheduler(ledger, job), scheduler(other, job)];
    await Promise.all(both.map((one) => one.start()));
    await expect.poll(() => began.length, { timeout: 20_000 }).toBeGreaterThan(3);
    await Promise.all(both.map((one) => one.stop()));
    // The first is the catching up, which may share its second.
    expect(new Set(began.slice(1)).size).toBe(began.length - 1);
  });
});
