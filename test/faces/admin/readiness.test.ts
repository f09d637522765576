import { mkdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { noteFall } from '../../../src/core/ledger/barriers.ts';
import { addInquiry } from '../../../src/core/ledger/inquiries.ts';
import { type Clock, systemClock } from '../../../src/core/runtime/clock.ts';
import { onlyHost } from '../../../src/core/runtime/host.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import { type FindingJson, findingShape } from '../../../src/core/shapes/parts.ts';
import { openReader } from '../../../src/custody/snapshot.ts';
import { healthRoutes } from '../../../src/faces/admin/health.ts';
import { createReadiness } from '../../../src/faces/admin/readiness.ts';
import type { ProbedQueue } from '../../../src/findings/machine-findings.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { addBatch, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { onPostgres } from '../../support/on-postgres/standing.ts';
import { configWith } from '../alerts/setting.ts';
import { startAdmin } from './support.ts';

/** Waits are cut short: a probe that gets no answer fails after half a second instead of five seconds. */
const clock: Clock = {
  ...systemClock(),
  sleep: (ms, signal) => systemClock().sleep(Math.min(ms, 500), signal),
};
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const everyMinute = '* * * * *';
const moving: ProbedQueue = { name: 'inline', probe: async () => ({ kind: 'moves' }) };

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
});

type Answer = { ready: boolean; problems: { check: string; problem: string; fix: string }[] };
type Over = {
  failing?: boolean;
  queues?: ProbedQueue[];
  dataDir?: string;
  started?: boolean;
  intake?: string;
};

/** Asks `/readyz` of a real server on the ledger. */
async function readyz({
  queues = [moving],
  dataDir,
  started = true,
  intake = everyMinute,
  failing = false,
}: Over = {}) {
  const reader = openReader(ledger);
  onTestFinished(() => reader.close());
  if (failing) await ledger.close();
  const readiness = createReadiness({
    ledger,
    reader: reader.db,
    clock,
    config: {
      ...(await configWith({})),
      dataDir: dataDir ?? ledger.folder,
      schedules: {
        intake,
        submit: '',
        followUp: '',
        reconcile: '',
        reconcileFull: '',
        report: '',
        timezone: 'Africa/Lagos',
      },
    },
    host: onlyHost,
    isStarted: () => started,
    queues: () => queues,
  });
  const { url } = await startAdmin({ routes: [healthRoutes(readiness)] });
  const reply = await fetch(`${url}/readyz`);
  const { findings, ...body }: Answer & { findings: FindingJson[] } = JSON.parse(await reply.text());
  // Each problem with what every face names it.
  expect(findings).toHaveLength(body.problems.length);
  for (const one of findings) findingShape.parse(one);
  return { status: reply.status, ...body };
}

/** Expects exactly this problem, with a fix. */
async function expectProblem(check: string, problem: RegExp, over: Over = {}): Promise<void> {
  expect(await readyz(over)).toEqual({
    status: 503,
    ready: false,
    problems: [{ check, problem: expect.stringMatching(problem), fix: expect.stringMatching(/\w+/) }],
  });
}

async function noteJob(run: {
  startedAt: string;
  kind?: 'succeeded' | 'failed' | 'incomplete';
}): Promise<void> {
  const store = createJobsStore(ledger);
  const { startedAt, kind } = run;
  await store.note('intake', { at: startedAt, by: 'w-1', expression: everyMinute });
  if (kind) await store.finished('intake', { startedAt, endedAt: startedAt, kind, result: {} });
}

const delivery = (receivedAt: string) => ({
  digest: receivedAt,
  receivedAt,
  kind: 'payout' as const,
  reference: 'A-1',
  trx: null,
  headers: '{}',
  body: Buffer.from('{}'),
  stale: false,
});

it('is ready while work moves', async () => {
  await noteJob({ startedAt: minutesAgo(1), kind: 'succeeded' });
  await ledger.write((trx) => storeDeliveries(trx, [delivery(minutesAgo(0.5))]));
  expect(await readyz()).toEqual({ status: 200, ready: true, problems: [] });
});

it.skipIf(onPostgres)('is not ready while another program keeps the ledger locked', async () => {
  const other = new Database(ledger.path);
  other.exec('begin immediate');
  try {
    await expectProblem('ledger', /cannot be written/);
  } finally {
    other.close();
  }
});

it.skipIf(onPostgres)('is not ready once the ledger fails', async () => {
  await expectProblem('ledger', /cannot be written/, { failing: true });
});

it('names a file that it may not use, and speaks of no full disk', async () => {
  mkdirSync(`${ledger.path}.mark.new`);
  const { problems } = await readyz();
  expect(problems).toEqual([
    {
      check: 'ledger',
      problem: expect.stringMatching(/EISDIR/),
      fix: expect.stringContaining(`read and write ${ledger.path}.mark.new`),
    },
  ]);
});

it('does not call a data folder full that it cannot look at', async () => {
  await expectProblem('disk', /cannot be looked at \(ENOENT/, { dataDir: '/nowhere' });
});

it('is not ready while a queue gives no jobs', async () => {
  const parked: ProbedQueue = { name: 'inline', probe: () => new Promise(() => undefined) };
  await expectProblem('queue', /takes and gives no jobs \(no answer/, { queues: [moving, parked] });
});

it('is not ready while a queue is paused', async () => {
  const paused: ProbedQueue = { name: 'shared', probe: async () => ({ kind: 'paused' }) };
  await expectProblem('queue', /shared queue is paused/, { queues: [moving, paused] });
});

it('is not ready once a webhook has not been applied for a minute', async () => {
  await ledger.write((trx) => storeDeliveries(trx, [delivery(minutesAgo(2))]));
  await expectProblem('webhooks', /not been applied for 1[12]\d s/);
});

it('P33: is not ready while a webhook waits that came before the clock was set back', async () => {
  await ledger.write((trx) => storeDeliveries(trx, [delivery(minutesAgo(-60))]));
  await expectProblem('webhooks', /before the clock was set back, has not been applied/);
});

it('is not ready after a run failed or was incomplete', async () => {
  await noteJob({ startedAt: minutesAgo(1), kind: 'failed' });
  await expectProblem('schedules', /last run of intake failed/);
  await noteJob({ startedAt: minutesAgo(1), kind: 'incomplete' });
  await expectProblem('schedules', /last run of intake was incomplete/);
});

it('is not ready once a schedule passed without its job', async () => {
  const startedAt = minutesAgo(20);
  await noteJob({ startedAt, kind: 'succeeded' });
  const missed = new Date(Date.parse(startedAt) + 60_000).toISOString().slice(0, 16);
  await expectProblem('schedules', new RegExp(`intake is overdue since ${missed}:00.000Z$`));
});

it('asks nothing of a schedule that is off, nor of a job that runs', async () => {
  await noteJob({ startedAt: minutesAgo(20) });
  expect((await readyz()).ready).toBe(true);
  await noteJob({ startedAt: minutesAgo(20), kind: 'failed' });
  expect((await readyz({ intake: '' })).ready).toBe(true);
});

it.runIf(process.platform === 'linux')('is not ready on a full disk', async () => {
  // A file system without any room.
  await expectProblem('disk', /0 MiB are free/, { dataDir: '/proc' });
});

it('is not ready once a run has hung for two hours', async () => {
  await noteJob({ startedAt: minutesAgo(119) });
  expect((await readyz()).ready).toBe(true);
  await noteJob({ startedAt: minutesAgo(121) });
  await expectProblem('schedules', /intake is overdue: no run of it has succeeded yet/);
});

it('P33: does not wait for a run that began before the clock was set back', async () => {
  await noteJob({ startedAt: minutesAgo(-3 * 60) });
  await expectProblem('schedules', /intake is overdue/);
});

it('is not ready before everything has started', async () => {
  await expectProblem('start', /still starting/, { started: false });
});

it('is ready while sending is halted: that waits for a person', async () => {
  await ledger.db
    .insertInto('halts')
    .values({ at: minutesAgo(5), kind: 'person', batch_id: null, detail: '{"kind":"person","by":"ada"}' })
    .execute();
  expect((await readyz()).ready).toBe(true);
});

it('P25: is not ready while the ledger has gone back in time, and names the way out', async () => {
  const why = 'its PostgreSQL server was restored or a standby took over: timeline 2, before 1';
  const fall = { at: new Date().toISOString(), why, advice: { kind: 'adopt' } } as const;
  await ledger.write((trx) => noteFall(trx, fall));
  await expectProblem('ledger', /a standby took over: timeline 2/);
});

it('is not ready while look-ups that webhooks raised wait for minutes, and says how many', async () => {
  const [payoutId = 0n] = await addBatch(ledger, ['R-1']);
  const ask = (dueAt: string) =>
    ledger.write((trx) => addInquiry(trx, { payoutId, reason: 'webhook_says', dueAt, rung: 0n }));
  await ask(minutesAgo(1));
  expect((await readyz()).status).toBe(200);
  await ask(minutesAgo(10));
  await expectProblem('look_ups', /1 look-up is overdue, the oldest for 60\d s/);
});
