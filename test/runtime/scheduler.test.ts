import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createJobsStore } from '../../src/ledger/jobs.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createScheduler, isOverdue, type ScheduledJob } from '../../src/runtime/scheduler.ts';

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
  const run = async (jobs: ScheduledJob[]): Promise<void> => {
    const scheduler = createScheduler({
      jobs,
      timezone: zone,
      clock,
      jobsStore: createJobsStore(ledger),
      log,
    });
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
    const scheduler = createScheduler({
      jobs,
      timezone: zone,
      clock,
      jobsStore: createJobsStore(ledger),
      log,
    });
    await scheduler.start();
    const [nightly, off] = scheduler.nextRuns();
    await scheduler.stop();
    expect(nightly?.nextRunAt).toMatch(/T01:00:00\.000Z$/);
    expect(off?.nextRunAt).toBeNull();
  });
});
