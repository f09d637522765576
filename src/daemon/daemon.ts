import * as applyJob from '../../jobs/apply-webhooks.ts';
import * as lookUpJob from '../../jobs/look-up.ts';
import * as requeueJob from '../../jobs/requeue.ts';
import * as resultsJob from '../../jobs/results.ts';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { errorText, logEvent } from '../core/runtime/log-events.ts';
import type { Job, Queue } from '../core/runtime/queue.ts';
import { createInlineQueue } from '../core/runtime/queue-inline.ts';
import { createScheduler } from '../core/runtime/scheduler.ts';
import { watchWallSteps } from '../core/runtime/wall-steps.ts';
import { openWorkers } from '../core/runtime/workers.sql.ts';
import {
  forbiddenLedgerFile,
  isLockConflict,
  isOutage,
  ledgerFailureCode,
  wentBackCode,
} from '../core/storage/failure.ts';
import { LedgerNewer } from '../core/storage/schema-version.ts';
import { createApprovalAsking } from '../faces/callback/approval-asking.ts';
import { queueFindings } from '../findings/machine-findings.ts';
import { TakenOver } from '../sending/claims.sql.ts';
import { createReceiver } from '../watching/webhooks/receiver.ts';
import { adviceText } from '../words/advice-text.ts';
import { createAdmin } from './admin.ts';
import { createAlerting } from './alerting.ts';
import { createEventWatch } from './event-watch.ts';
import { createProbes } from './probes.ts';
import { createResults } from './renew-results.ts';
import { scheduledJobs } from './schedules.ts';
import { createSending } from './send-turns.ts';
import { createGate } from './sending-gate.ts';
import { createServiceWatch } from './service-watch.ts';
import { createStandstill } from './standstill.ts';

const takeOverEveryMs = 2000;
/** After so many look-outs for the dead, what they had begun on schedule is begun again. */
const makeUpEvery = 10;
/** Webhooks that come within so long of each other are applied together: a commit each would keep the disk busy. */
const gatherMs = 50;
/** A look-up that waits for so long was left behind by the process that was woken for it: any other makes it. */
const leftBehindMs = 5000;

/** A server of the daemon cannot listen; `cause` says why. */
export class CannotListen extends Error {
  readonly server: 'receiver' | 'admin';

  constructor(server: 'receiver' | 'admin', cause: unknown) {
    super(`the ${server} cannot listen`, { cause });
    this.server = server;
  }
}

/** Wires schedules, queue and receiver around one app: what `serve` runs. */
export function createDaemon(app: App) {
  const { config, clock, log, jobsStore } = app;
  const stopping = new AbortController();
  const failure = Promise.withResolvers<void>();
  let problem: Failure | undefined;
  const guard = (error: unknown): void => {
    const why = reasonToStop(error);
    if (why === null || problem) return;
    // A lock of a file that others found free will be found free again.
    const goesOn = isOutage(error) || (error instanceof TakenOver && app.ledger.session !== null);
    problem = { why, goesOn };
    stopping.abort();
    failure.resolve();
  };
  const retry = { attempts: 3, backoffMs: 1000 };
  const onFailed = (job: Job, error: unknown): void => {
    logEvent(log, 'job_failed', { job: job.name, error: errorText(error), err: error, text: 'job failed' });
    guard(error);
  };
  // What this process alone can know of, such as a webhook that it stored, never leaves it.
  const queue = createInlineQueue({ clock, retry, onFailed });
  let shared: Queue | null = null;
  const watched = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      guard(error);
      throw error;
    });
  // A job that is running already may be past what it was woken for: it then runs once more.
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
  const process = (job: string, work: () => Promise<void>): void => {
    const untilQuiet = async (): Promise<void> => {
      do {
        again.delete(job);
        await work();
      } while (again.has(job) && !stopping.signal.aborted);
    };
    queue.process(job, untilQuiet, { concurrency: 1 });
  };
  const gate = createGate(app);
  const events = createEventWatch(app);
  const refill = (): Promise<requeueJob.Requeued> =>
    watched(gate.word().then((word) => requeueJob.run(app, { own, shared, word })));
  const sending = createSending(app, { gate, stopping: stopping.signal, watched, events });
  const standstill = createStandstill(app, { gate, send: () => wake(submitJob.name) });
  const results = createResults(app, { stopping: stopping.signal, watched });
  const wakeResults = (): Promise<void> => wake(resultsJob.name);

  process(submitJob.name, sending.submit);
  // A lane of its own, so that a slow service never keeps a webhook from being applied.
  process(lookUpJob.name, async () => {
    const { lookups, nextMs } = await watched(lookUpJob.run(app, stopping.signal));
    if (lookups === 0) return;
    await wakeResults();
    if (nextMs > 0) await clock.sleep(nextMs, stopping.signal);
    if (nextMs === 0 || (await app.lookUps.isWaiting())) await wake(lookUpJob.name);
  });
  process(resultsJob.name, results.keep);
  process(applyJob.name, async () => {
    await watched(app.applyWebhooks(stopping.signal));
    await wakeResults();
    await wake(lookUpJob.name);
    await clock.sleep(gatherMs, stopping.signal);
  });
  const receiver = config.receiver.enabled
    ? createReceiver({ ...app, onStored: () => wake(applyJob.name), onFailed: guard })
    : null;
  let started = false;
  const queues = createProbes({ own: queue, shared: () => shared });
  const service = createServiceWatch(clock);
  app.watchTimes(service.watcher);
  const admin = createAdmin(app, {
    own: queue,
    shared: () => shared,
    queues,
    isStarted: () => started,
    service: service.standing,
  });
  const scheduler = createScheduler({
    jobs: scheduledJobs(app, {
      ...{ stopping: stopping.signal, refill, watched, wakeResults, events },
      unsent: sending.unsent,
    }),
    timezone: config.schedules.timezone,
    clock,
    jobsStore,
    log,
    worker: app.workers.id,
    isAlive: async (worker) => (await openWorkers(app.ledger.db)).some(({ id }) => id === worker),
  });
  /** Dead processes beside this one are taken over in seconds, whatever the schedules (P3). */
  async function keepTakingOver(): Promise<void> {
    for (let turn = 1; !stopping.signal.aborted; turn++) {
      await clock.sleep(takeOverEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      const look = async (): Promise<void> => {
        await app.takeOver();
        // What a dead process was asking, or nobody was woken for.
        if (await app.lookUps.isWaiting(leftBehindMs)) await wake(lookUpJob.name);
        await events.look();
        if (turn % makeUpEvery !== 0) return;
        await scheduler.makeUp();
        if (shared) await standstill(shared);
      };
      await watched(look()).catch((error: unknown) => log.error({ err: error }, 'take-over failed'));
    }
  }
  /** P33: what waits for a time of the wall clock is computed again when that clock steps. */
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
  async function listen(): Promise<{ url: string | null; admin: string | null }> {
    const of = (server: 'receiver' | 'admin') => (error: unknown) => {
      throw new CannotListen(server, error);
    };
    const received = await receiver?.listen().catch(of('receiver'));
    try {
      const served = await admin?.listen().catch(of('admin'));
      return { url: received?.url ?? null, admin: served?.url ?? null };
    } catch (error) {
      await receiver?.close();
      throw error;
    }
  }
  const isQueueStuck = async (): Promise<boolean> => (await queueFindings(clock, queues())).length > 0;
  const keepTelling = createAlerting(app, {
    stopping: stopping.signal,
    watched,
    isQueueStuck,
    service: service.standing,
  });
  const keepAsking = createApprovalAsking(app, { stopping: stopping.signal, watched });
  let takingOver: Promise<void> | undefined;
  let watchingSteps: Promise<void> | undefined;
  let telling: Promise<unknown> | undefined;
  async function begin(): Promise<void> {
    shared = await sending.join({ retry, onFailed, onBack: refill });
    // Before schedules are caught up: the claims of a dead daemon are taken over first (P3).
    await watched(app.takeOver());
    await events.look();
    await refill();
    // What a process that ended had not written any more.
    await wakeResults();
    watchingSteps = watchWallSteps(clock, { signal: stopping.signal, onStep });
    await scheduler.start();
    takingOver = keepTakingOver();
    telling = Promise.all([keepTelling(), keepAsking()]);
    started = true;
  }
  /** Stops accepting, finishes what is in flight, applies what is stored. Returns why it had to stop, if it failed. */
  async function stop(): Promise<Failure | undefined> {
    stopping.abort();
    const told = problem && app.alerts.sayStopped(problem);
    await Promise.all([takingOver, watchingSteps, telling]);
    await scheduler.stop();
    // A POST under way may take its whole time-out; its answer must be recorded.
    const deadlineMs = config.service.timeoutMs + 5000;
    await Promise.all([queue.close(deadlineMs), shared?.close(deadlineMs)]);
    // As late as possible: the next daemon of this process listens again at once.
    await receiver?.close();
    if (!problem) {
      await app.applyWebhooks();
      await events.look();
      await results.last();
    }
    // To the end, monitors learn that the process lives.
    await admin?.close();
    await told;
    return problem;
  }
  return {
    /** Resolves when the ledger can no longer be written (P12) or others took over (P3): it must stop. */
    failed: failure.promise,
    /** Begins to listen, then to run jobs. Throws {@link CannotListen} when a port is taken. */
    async start(): Promise<{ url: string | null; admin: string | null }> {
      const urls = await listen();
      try {
        await begin();
      } catch (error) {
        guard(error);
        await stop();
        throw error;
      }
      return urls;
    },
    /** Uses a renewed certificate at once. Never throws. */
    async reload(): Promise<void> {
      await Promise.all([receiver?.reload(), admin?.reload()]);
    },
    stop,
  };
}

/**
 * Why a daemon had to stop. `goesOn`: the ledger's database was away, or others took this process for dead meanwhile (P3,
 * P12). Then a new daemon may work in this process, as a new worker with a new session.
 */
export type Failure = { why: string; goesOn: boolean };

/**
 * What no later try of the job can mend: the ledger's own failure (P12), that others took this process for dead (P3), or
 * that a newer version has upgraded the ledger.
 * Somebody's open transaction ends, and what it held is done then.
 */
function reasonToStop(error: unknown): string | null {
  if (error instanceof TakenOver || error instanceof LedgerNewer) return error.message;
  if (isLockConflict(error)) return null;
  if (isOutage(error))
    return `the ledger's database failed (${error.message}); sending has stopped. Start the database: serve goes on by itself`;
  const code = ledgerFailureCode(error);
  if (code === null) return null;
  const said = error instanceof Error ? error.message : code;
  if (code === wentBackCode)
    return `the ledger failed (${said}); sending has stopped: ${adviceText({ kind: 'adopt' })}, then start serve again`;
  return `the ledger failed (${said}); sending has stopped: ${firstAdvice(error, code)}, then start serve again`;
}

function firstAdvice(error: unknown, code: string): string {
  const forbidden = forbiddenLedgerFile(error);
  if (forbidden) return adviceText({ kind: 'give_file', place: forbidden.place });
  return code.startsWith('SQLITE_')
    ? 'free disk space or restore the file'
    : `see that the database can be reached (${adviceText({ kind: 'doctor' })})`;
}
