import * as applyJob from '../../jobs/apply-webhooks.ts';
import * as lookUpJob from '../../jobs/look-up.ts';
import * as requeueJob from '../../jobs/requeue.ts';
import * as resultsJob from '../../jobs/results.ts';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import type { Job, Queue } from '../runtime/queue.ts';
import { createInlineQueue } from '../runtime/queue-inline.ts';
import { createScheduler } from '../runtime/scheduler.ts';
import { watchWallSteps } from '../runtime/wall-steps.ts';
import { openWorkers } from '../runtime/workers.sql.ts';
import { TakenOver } from '../sending/claims.sql.ts';
import { isLockConflict, ledgerFailureCode } from '../storage/failure.ts';
import { LedgerNewer } from '../storage/schema-version.ts';
import { createReceiver } from '../webhooks/receiver.ts';
import { createResults } from './renew-results.ts';
import { scheduledJobs } from './schedules.ts';
import { createSending } from './send-turns.ts';
import { createGate } from './sending-gate.ts';
import { createStandstill } from './standstill.ts';

const takeOverEveryMs = 2000;
/** How many take-over turns pass before the scheduled runs of dead processes are made up. */
const makeUpEvery = 10;
/** Webhooks that arrive within this time are applied together: a commit for each would keep the disk busy. */
const gatherMs = 50;

export type Daemon = {
  /** Starts to listen, then to run jobs. Throws when the receiver's port is taken. */
  start(): Promise<{ url: string | null }>;
  /** Resolves with the reason when the ledger fails (P12) or another process took over (P3): the daemon must stop. */
  failed: Promise<string>;
  /** Uses a renewed certificate at once. Never throws. */
  reload(): Promise<void>;
  /** Stops accepting, finishes what is in flight, applies stored webhooks. Returns why it had to stop, if it failed. */
  stop(): Promise<string | undefined>;
};

/** Connects schedules, queue and receiver of one app: what `serve` runs. */
export function createDaemon(app: App): Daemon {
  const { config, clock, log, jobsStore } = app;
  const stopping = new AbortController();
  const failure = Promise.withResolvers<string>();
  let problem: string | undefined;
  const guard = (error: unknown): void => {
    const why = reasonToStop(error);
    if (why === null || problem) return;
    problem = why;
    stopping.abort();
    failure.resolve(problem);
  };
  const retry = { attempts: 3, backoffMs: 1000 };
  const onFailed = (job: Job, error: unknown): void => {
    log.error({ job: job.name, err: error }, 'job failed');
    guard(error);
  };
  // Jobs that only this process knows about, such as a webhook that it stored, stay in its own queue.
  const queue = createInlineQueue({ clock, retry, onFailed });
  let shared: Queue | null = null;
  const watched = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      guard(error);
      throw error;
    });
  // A running job may already be past the reason for which it was woken: it then runs once more.
  const again = new Set<string>();
  const own: Pick<Queue, 'add'> = {
    async add(job) {
      const added = await queue.add(job);
      if (added === 'known') again.add(job.name);
      return added;
    },
  };
  const wake = async (job: string): Promise<void> => {
    if (!stopping.signal.aborted) await own.add({ name: job, id: job, payload: {} });
  };
  const untilQuiet = (job: string, work: () => Promise<void>) => async (): Promise<void> => {
    do {
      again.delete(job);
      await work();
    } while (again.has(job) && !stopping.signal.aborted);
  };
  const gate = createGate(app);
  const refill = (): Promise<object> =>
    watched(gate.word().then((word) => requeueJob.run(app, { own, shared, word })));
  const sending = createSending(app, { gate, stopping: stopping.signal, watched });
  const standstill = createStandstill(app, { gate, send: () => wake(submitJob.name) });
  const results = createResults(app, { stopping: stopping.signal, watched });
  const wakeResults = (): Promise<void> => wake(resultsJob.name);

  queue.process(submitJob.name, untilQuiet(submitJob.name, sending.submit), { concurrency: 1 });
  // A lane of its own, so that a slow service never delays the applying of webhooks.
  queue.process(
    lookUpJob.name,
    untilQuiet(lookUpJob.name, async () => {
      const { lookups } = await watched(lookUpJob.run(app, stopping.signal));
      if (lookups > 0) await wakeResults();
    }),
    { concurrency: 1 },
  );
  queue.process(resultsJob.name, untilQuiet(resultsJob.name, results.keep), { concurrency: 1 });
  queue.process(
    applyJob.name,
    untilQuiet(applyJob.name, async () => {
      await watched(app.applyWebhooks(stopping.signal));
      await wakeResults();
      await wake(lookUpJob.name);
      await clock.sleep(gatherMs, stopping.signal);
    }),
    { concurrency: 1 },
  );
  const receiver = config.receiver.enabled
    ? createReceiver({
        config,
        ledger: app.ledger,
        clock,
        log,
        onStored: () => wake(applyJob.name),
        onFailed: guard,
      })
    : null;
  const scheduler = createScheduler({
    jobs: scheduledJobs(app, { stopping: stopping.signal, refill, watched, wakeResults }),
    timezone: config.schedules.timezone,
    clock,
    jobsStore,
    log,
    worker: app.workers.id,
    isAlive: async (worker) => (await openWorkers(app.ledger.db)).some(({ id }) => id === worker),
  });
  /** Takes over the work of dead processes within seconds, whatever the schedules (P3). */
  async function keepTakingOver(): Promise<void> {
    for (let turn = 1; !stopping.signal.aborted; turn++) {
      await clock.sleep(takeOverEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      const look = async (): Promise<void> => {
        await app.takeOver();
        if (turn % makeUpEvery !== 0) return;
        await scheduler.makeUp();
        if (shared) await standstill(shared);
      };
      await watched(look()).catch((error: unknown) => log.error({ err: error }, 'take-over failed'));
    }
  }
  /** P33: recomputes every wait for a wall-clock time when that clock steps. */
  async function onStep(ms: number): Promise<void> {
    log.warn(
      { step_seconds: Math.round(ms / 1000) },
      'the wall clock stepped: schedules, limits and look-up times are computed again',
    );
    const rebuild = async (): Promise<void> => {
      await app.rebuildWaits();
      await scheduler.rebuild();
    };
    await watched(rebuild()).catch((error: unknown) =>
      log.error({ err: error }, 'times could not be computed again after a step of the wall clock'),
    );
  }
  let takingOver: Promise<void> | undefined;
  let watchingSteps: Promise<void> | undefined;
  return {
    failed: failure.promise,
    async start() {
      const listening = receiver ? await receiver.listen() : null;
      shared = await sending.join({ retry, onFailed, onBack: refill });
      // Before schedules are caught up: a dead daemon's claims must be free first.
      await watched(app.takeOver());
      await refill();
      // Results that an ended process had not written yet.
      await wakeResults();
      watchingSteps = watchWallSteps(clock, { signal: stopping.signal, onStep });
      await scheduler.start();
      takingOver = keepTakingOver();
      return { url: listening?.url ?? null };
    },
    async reload() {
      await receiver?.reload();
    },
    async stop() {
      stopping.abort();
      await Promise.all([takingOver, watchingSteps]);
      await receiver?.close();
      await scheduler.stop();
      // A POST in flight may take its whole time-out; its answer must be recorded.
      const deadlineMs = config.service.timeoutMs + 5000;
      await Promise.all([queue.close(deadlineMs), shared?.close(deadlineMs)]);
      if (!problem) {
        await app.applyWebhooks();
        await results.last();
      }
      return problem;
    },
  };
}

/**
 * The reason to stop for an error that no retry of the job can fix; null for all others. The ledger failed (P12),
 * another process took over (P3), or a newer version upgraded the ledger. A lock conflict is none: the other
 * transaction will end.
 */
function reasonToStop(error: unknown): string | null {
  if (error instanceof TakenOver || error instanceof LedgerNewer) return error.message;
  if (isLockConflict(error)) return null;
  const code = ledgerFailureCode(error);
  if (code === null) return null;
  const message = error instanceof Error ? error.message : code;
  const first = code.startsWith('SQLITE_')
    ? 'Free disk space or restore the file'
    : 'Check that the database is reachable (counterfoil doctor)';
  return `the ledger failed (${message}); sending has stopped. ${first}, then start serve again`;
}
