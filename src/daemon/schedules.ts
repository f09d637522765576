import * as backupJob from '../../jobs/backup.ts';
import * as followUpJob from '../../jobs/follow-up.ts';
import * as intakeJob from '../../jobs/intake.ts';
import * as reconcileJob from '../../jobs/reconcile.ts';
import * as reportJob from '../../jobs/report.ts';
import type { Requeued } from '../../jobs/requeue.ts';
import * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { inSpan } from '../core/domain/trace.ts';
import { createIgnoredFiles } from '../core/runtime/ignored-files.ts';
import { logEvent } from '../core/runtime/log-events.ts';
import type { JobOutcome, ScheduledJob } from '../core/runtime/scheduler.ts';
import { tryReconcile } from '../core/runtime/worker-lock.ts';
import { logRun, logRunFailed } from './daemon-log.ts';
import type { EventWatch } from './event-watch.ts';

const askLockEveryMs = 1000;
/** How long a run waits for another reconciliation; after that it is retried later. */
const waitForOtherMs = 60 * 60_000;

/** The jobs that `serve` runs on schedule. */
export function scheduledJobs(
  app: App,
  deps: {
    stopping: AbortSignal;
    refill(): Promise<Requeued>;
    /** Why what may be sent is not sent; null: it is, as far as this process knows. */
    unsent(hasWork: boolean): Promise<string | null>;
    watched<T>(work: Promise<T>): Promise<T>;
    wakeResults(): Promise<void>;
    events: EventWatch;
  },
): ScheduledJob[] {
  const { schedules } = app.config;
  const { stopping, refill, unsent, watched, wakeResults, events } = deps;
  const onIgnored = createIgnoredFiles(app.log);
  const onRefused = (file: string, why: string): void =>
    logEvent(app.log, 'file_refused', { file, why, text: why });

  async function waitForLock(): ReturnType<typeof tryReconcile> {
    const until = app.clock.monotonic() + waitForOtherMs;
    for (;;) {
      const lock = await tryReconcile(app.ledger);
      if (lock || stopping.aborted || app.clock.monotonic() > until) return lock;
      await app.clock.sleep(askLockEveryMs, stopping);
    }
  }
  const reconcile = (full: boolean) => async (): Promise<JobOutcome> => {
    const lock = await waitForLock();
    if (!lock) return { kind: 'skipped', counts: {}, why: 'another process is reconciling' };
    try {
      const payload = { full, followUp: true, signal: stopping, onRefused };
      const run = await watched(reconcileJob.run(app, payload));
      logRun(app, run);
      return reconcileJob.outcomeOf(run);
    } catch (error) {
      logRunFailed(app, full ? reconcileJob.fullName : reconcileJob.name, error);
      throw error;
    } finally {
      await lock.release();
    }
  };
  const jobs: ScheduledJob[] = [
    {
      name: intakeJob.name,
      expression: schedules.intake,
      run: async () => {
        const result = await watched(intakeJob.run(app, { signal: stopping, onIgnored, onRefused }));
        await events.look();
        if (result.taken > 0) await refill();
        return succeeded(result);
      },
    },
    {
      name: submitJob.name,
      expression: schedules.submit,
      // It sends money: a schedule that never ran has missed no run.
      waitsWhenNew: true,
      triesAgain: true,
      run: async () => {
        // Other processes on this ledger may have changed a batch and left.
        await wakeResults();
        const { added, hasWork } = await refill();
        const why = await unsent(hasWork);
        return why === null ? succeeded({ added }) : { kind: 'incomplete', counts: { added }, why };
      },
    },
    {
      name: followUpJob.name,
      expression: schedules.followUp,
      run: async () => {
        const counts = await watched(followUpJob.run(app, stopping));
        await wakeResults();
        return succeeded(counts);
      },
    },
    {
      name: reconcileJob.name,
      expression: schedules.reconcile,
      triesAgain: true,
      run: reconcile(false),
    },
    {
      name: reconcileJob.fullName,
      expression: schedules.reconcileFull,
      triesAgain: true,
      run: reconcile(true),
    },
    {
      name: reportJob.name,
      expression: schedules.report,
      triesAgain: true,
      run: async () => succeeded(await watched(reportJob.run(app))),
    },
    {
      name: backupJob.name,
      expression: backupJob.expressionOf(app.config),
      triesAgain: true,
      // Not watched: a backup disk that is full or gone is no failure of the ledger (P12).
      run: async () => succeeded(await backupJob.run(app)),
    },
  ];
  return jobs.map((job) => ({ ...job, run: () => traced(app, job) }));
}

/** A run of a job in a trace of its own. */
function traced({ traces, clock }: Pick<App, 'traces' | 'clock'>, job: ScheduledJob): Promise<JobOutcome> {
  const about = { kind: 'job' as const, name: `${job.name} ${clock.iso()}` };
  const start = { name: 'job', about, fields: { job: job.name } };
  return inSpan(traces, start, { work: job.run, said: ({ kind }) => ({ outcome: kind }) });
}

function succeeded(counts: object): JobOutcome {
  return { kind: 'succeeded', counts };
}
