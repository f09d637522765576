import * as applyJob from '../jobs/apply-webhooks.ts';
import * as followUpJob from '../jobs/follow-up.ts';
import * as intakeJob from '../jobs/intake.ts';
import * as lookUpJob from '../jobs/look-up.ts';
import * as reconcileJob from '../jobs/reconcile.ts';
import * as reportJob from '../jobs/report.ts';
import * as requeueJob from '../jobs/requeue.ts';
import * as submitJob from '../jobs/submit.ts';
import type { App } from './app.ts';
import { TakenOver } from './ledger/claims.ts';
import { createInlineQueue } from './runtime/queue-inline.ts';
import { createReceiver } from './runtime/receiver.ts';
import { createScheduler, type ScheduledJob } from './runtime/scheduler.ts';
import { tryExclusive } from './runtime/worker-lock.ts';

const takeOverEveryMs = 2000;

export type Daemon = {
  /** Begins to listen, then to run jobs. Throws when the receiver's port is taken. */
  start(): Promise<{ url: string | null }>;
  /** Resolves with the reason when the ledger can no longer be written (P12) or others took over (P3): it must stop. */
  failed: Promise<string>;
  /** Uses a renewed certificate at once. Never throws. */
  reload(): Promise<void>;
  /** Stops accepting, finishes what is in flight, applies what is stored. Returns why it had to stop, if it failed. */
  stop(): Promise<string | undefined>;
};

/** Wires schedules, queue and receiver around one app: what `serve` runs. */
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
  const queue = createInlineQueue({
    clock,
    retry: { attempts: 3, backoffMs: 1000 },
    onFailed: (job, error) => {
      log.error({ job: job.name, err: error }, 'job failed');
      guard(error);
    },
  });
  const watched = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      guard(error);
      throw error;
    });
  // A job that is running already may be past what it was woken for: it then runs once more.
  const again = new Set<string>();
  const wake = async (job: string): Promise<void> => {
    if (stopping.signal.aborted) return;
    const added = await queue.add({ name: job, id: `${job}-${config.mode}`, payload: {} });
    if (added === 'known') again.add(job);
  };
  const untilQuiet = (job: string, work: () => Promise<void>) => async (): Promise<void> => {
    do {
      again.delete(job);
      await work();
    } while (again.has(job) && !stopping.signal.aborted);
  };
  let cleared = false;

  /** Sends what is ready; the first time only when the service shows our mode and nothing else (P24). */
  async function submit(): Promise<void> {
    if (!cleared) {
      const preflight = await app.preflight();
      if (preflight.kind === 'problem') {
        log.error(preflight.problem);
        return;
      }
      cleared = true;
    }
    const result = await watched(submitJob.run(app, { signal: stopping.signal }));
    if (result.ended !== 'drained')
      log.warn({ ended: result.ended, detail: result.detail }, 'sending stopped early');
    await app.reporting.writeDueBatchResults();
    await app.reporting.writeIndex();
  }

  queue.process(submitJob.name, untilQuiet(submitJob.name, submit), { concurrency: 1 });
  // A lane of its own, so that a slow service never keeps a webhook from being applied.
  queue.process(
    lookUpJob.name,
    untilQuiet(lookUpJob.name, async () => {
      await watched(lookUpJob.run(app, stopping.signal));
    }),
    { concurrency: 1 },
  );
  queue.process(
    applyJob.name,
    untilQuiet(applyJob.name, async () => {
      await watched(app.applyWebhooks(stopping.signal));
      await wake(lookUpJob.name);
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
    jobs: scheduledJobs(app, { stopping: stopping.signal, wake, queue, watched }),
    timezone: config.schedules.timezone,
    clock,
    jobsStore,
    log,
  });
  /** Dead processes beside this one are taken over in seconds, whatever the schedules (P3). */
  async function keepTakingOver(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(takeOverEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await watched(app.takeOver()).catch((error: unknown) => log.error({ err: error }, 'take-over failed'));
    }
  }
  let takingOver: Promise<void> | undefined;
  return {
    failed: failure.promise,
    async start() {
      const listening = receiver ? await receiver.listen() : null;
      await requeueJob.run(app, queue);
      await scheduler.start();
      takingOver = keepTakingOver();
      return { url: listening?.url ?? null };
    },
    async reload() {
      await receiver?.reload();
    },
    async stop() {
      stopping.abort();
      await takingOver;
      await receiver?.close();
      await scheduler.stop();
      // A POST under way may take its whole time-out; its answer must be recorded.
      await queue.close(config.service.timeoutMs + 5000);
      if (!problem) await app.applyWebhooks();
      return problem;
    },
  };
}

function scheduledJobs(
  app: App,
  deps: {
    stopping: AbortSignal;
    wake(job: string): Promise<void>;
    queue: ReturnType<typeof createInlineQueue>;
    watched<T>(work: Promise<T>): Promise<T>;
  },
): ScheduledJob[] {
  const { schedules } = app.config;
  const { stopping, wake, queue, watched } = deps;
  const reconcile = (full: boolean) => async (): Promise<object> => {
    const lock = tryExclusive(app.config.dataDir, 'reconcile');
    if (!lock) return { skipped: 'another process is reconciling' };
    try {
      const { reports: _reports, ...counts } = await watched(
        reconcileJob.run(app, { full, followUp: true, signal: stopping }),
      );
      return counts;
    } finally {
      lock.release();
    }
  };
  return [
    {
      name: intakeJob.name,
      expression: schedules.intake,
      run: async () => {
        const result = await watched(intakeJob.run(app));
        if (result.taken > 0 && schedules.submit !== '') await wake(submitJob.name);
        return result;
      },
    },
    { name: submitJob.name, expression: schedules.submit, run: () => watched(requeueJob.run(app, queue)) },
    {
      name: followUpJob.name,
      expression: schedules.followUp,
      run: () => watched(followUpJob.run(app, stopping)),
    },
    { name: reconcileJob.name, expression: schedules.reconcile, run: reconcile(false) },
    { name: 'reconcile_full', expression: schedules.reconcileFull, run: reconcile(true) },
    { name: reportJob.name, expression: schedules.report, run: () => watched(reportJob.run(app)) },
  ];
}

/** What no later try of the job can mend: the ledger's own failure (P12), or that others took this process for dead (P3). */
function reasonToStop(error: unknown): string | null {
  if (error instanceof TakenOver) return error.message;
  if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_'))) return null;
  return `the ledger failed (${error.message}); sending has stopped. Free disk space or restore the file, then start serve again`;
}
