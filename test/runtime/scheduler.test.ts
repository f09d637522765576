import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJobsStore } from '../../src/ledger/jobs.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  createScheduler,
  isOverdue,
  type ScheduledJob,
  type Scheduler,
} from '../../src/runtime/scheduler.ts';

let dir = '';
let ledger: Ledger;
const clock = systemClock();
const log = pino({ level: 'silent' });
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-scheduler-'));
  ledger = await openLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
});
afterEach(async () => {
  await ledger.close();
  rmSync(dir, { recursive: true, force: true });
});

const zone = 'Africa/Lagos';
const past = (lastSuccessAt: string | null) => ({
  job: 'reconcile',
  lastRunAt: null,
  lastSuccessAt,
  lastResult: null,
  runner: null,
});

describe('isOverdue', () => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  it.each([
    ['0 2 * * *', '2026-11-21T01:00:05Z', false],
    ['0 2 * * *', '2026-11-21T00:59:59Z', true],
    ['0 3 * * 0', '2026-11-15T02:00:01Z', false],
    ['0 3 * * 0', '2026-11-14T12:00:00Z', true],
    ['0 0 1 1 *', '2026-11-20T00:00:00Z', false],
    ['30 0 2 * * *', '2026-11-20T12:00:00Z', true],
  ])('%s with the last success at %s: %s (Lagos time)', (expression, success, due) => {
    expect(isOverdue(expression, zone, past(success), now)).toBe(due);
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

  it('catches up at start what came due while nobody ran it, once, and notes the result', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => ({ runs: ++runs }) };
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
      { lastResult: 'failed: broken 2', lastSuccessAt: null },
    ]);
  });

  it('tells the next run of each job in its zone', async () => {
    const jobs = ['0 2 * * *', ''].map((expression, index) => ({
      name: `job-${index}`,
      expression,
      run: async () => ({}),
    }));
    const scheduler = schedulerOf(jobs);
    await scheduler.start();
    const [nightly, off] = scheduler.nextRuns();
    await scheduler.stop();
    expect(nightly?.nextRunAt).toMatch(/T01:00:00\.000Z$/);
    expect(off?.nextRunAt).toBeNull();
  });
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

  it('take each due time once, whichever clock is ahead, and a mode takes none from the other', async () => {
    const [one, two] = [createJobsStore(ledger), createJobsStore(other)];
    const taken = await Promise.all(
      [one, two].map((store) => store.begin('report', { at: at(1), since: at(0), by: 'serve-2' })),
    );
    expect(taken.filter((took) => took)).toHaveLength(1);
    expect(await two.begin('report', { at: at(9), since: at(10), by: 'serve-2' })).toBe(true);
    expect(await one.begin('report', { at: at(11), since: at(10), by: 'serve-2' })).toBe(true);
    expect(await two.begin('report', { at: at(12), since: at(10), by: 'serve-2' })).toBe(false);
    expect(await createJobsStore(ledger).begin('report', { at: at(12), since: at(10), by: 'serve-2' })).toBe(
      true,
    );
  });

  it('take what is due although a clock that was set back since noted a run far ahead', async () => {
    const store = createJobsStore(ledger);
    await store.begin('report', { at: '2027-11-21T02:00:00.000Z', since: at(0), by: 'serve-2' });
    expect(await store.begin('report', { at: at(1), since: at(0), by: 'serve-2' })).toBe(true);
  });

  it('catch up what both missed once', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => ({ runs: ++runs }) };
    const both = [scheduler(ledger, job), scheduler(other, job)];
    await Promise.all(both.map((one) => one.start()));
    await Promise.all(both.map((one) => one.stop()));
    expect(runs).toBe(1);
  });

  it('leave a run under way to who lives, and make up for who died in it', async () => {
    let runs = 0;
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => ({ runs: ++runs }) };
    await createJobsStore(other).begin('reconcile', { at: clock.iso(), since: at(0), by: 'serve-2' });
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
    const job = { name: 'reconcile', expression: '0 0 1 1 *', run: async () => ({ runs: ++runs }) };
    const dead = new Set<string>();
    const lives = scheduler(ledger, job, async (worker) => !dead.has(worker));
    await createJobsStore(other).begin('reconcile', { at: clock.iso(), since: at(0), by: 'serve-2' });
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

  it('run what comes due each second once', async () => {
    const began: number[] = [];
    const job = {
      name: 'submit',
      expression: '* * * * * *',
      run: async () => ({ runs: began.push(Math.floor(Date.now() / 1000)) }),
    };
    const both = [scheduler(ledger, job), scheduler(other, job)];
    await Promise.all(both.map((one) => one.start()));
    await expect.poll(() => began.length, { timeout: 20_000 }).toBeGreaterThan(3);
    await Promise.all(both.map((one) => one.stop()));
    // The first is the catching up, which may share its second.
    expect(new Set(began.slice(1)).size).toBe(began.length - 1);
  });

  it('keep the past that was noted before modes had one each', async () => {
    await ledger.write(async (trx) => {
      const row = { job: 'report', last_run_at: at(0), last_success_at: at(0), last_result: '{}' };
      await trx.insertInto('jobs').values(row).execute();
    });
    const store = createJobsStore(ledger);
    expect(await store.all()).toMatchObject([{ job: 'report', lastSuccessAt: at(0) }]);
    await store.begin('report', { at: at(5), since: at(1), by: 'serve-2' });
    expect(await store.all()).toMatchObject([{ job: 'report', lastRunAt: at(5), lastSuccessAt: null }]);
  });
});
