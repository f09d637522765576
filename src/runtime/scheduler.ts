import { createTask, type ScheduledTask } from 'node-cron';
import type { JobPast, JobsStore } from '../ledger/jobs.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

export type ScheduledJob = {
  name: string;
  /** A node-cron expression; empty: never run, never caught up. */
  expression: string;
  /** Returns counts for `status`; what it throws is noted as the run's result. */
  run(): Promise<object>;
};

export type Scheduler = {
  /** Runs what came due while nobody ran it, and then each job at its times. */
  start(): Promise<void>;
  /** Runs again what a process that died was about. */
  makeUp(): Promise<void>;
  /** Starts no further run and waits for those under way. */
  stop(): Promise<void>;
  nextRuns(): { job: string; nextRunAt: string | null }[];
};

const minuteMs = 60_000;
/** How far back the last due time is looked for; a job rarer than this is caught up when it has not run for so long. */
const lookBackMs = 40 * 24 * 60 * minuteMs;

/**
 * Runs jobs by the clock. The ledger holds who took which due time, so that each is run by one process however many there
 * are, and the last success, so that a run missed while all were down is made up.
 */
export function createScheduler(deps: {
  jobs: ScheduledJob[];
  timezone: string;
  clock: Clock;
  jobsStore: JobsStore;
  log: Logger;
  /** This process by its worker id, and whether another by that of its own still lives. */
  worker: string;
  isAlive(worker: string): Promise<boolean>;
}): Scheduler {
  const { clock, jobsStore, log } = deps;
  const jobs = deps.jobs.filter((job) => job.expression.trim() !== '');
  const underWay = new Map<string, Promise<void>>();
  let tasks: { job: ScheduledJob; task: ScheduledTask }[] = [];
  let stopped = false;

  /** `since`: what is due is taken by who begins first at or after it. */
  const runOnce = async (job: ScheduledJob, since: string): Promise<void> => {
    const startedAt = clock.iso();
    if (!(await jobsStore.begin(job.name, { at: startedAt, since, by: deps.worker }))) return;
    const ran = Promise.resolve().then(() => job.run());
    const outcome = await ran.then(
      (counts) => ({ ok: true, result: JSON.stringify(counts) }),
      (error: unknown) => {
        log.error({ err: error, job: job.name }, 'job failed');
        return { ok: false, result: `failed: ${error instanceof Error ? error.message : String(error)}` };
      },
    );
    await jobsStore.finished(job.name, { startedAt, ...outcome });
  };
  const trigger = (job: ScheduledJob, since: string): void => {
    if (stopped || underWay.has(job.name)) return;
    const run = runOnce(job, since)
      .catch((error: unknown) =>
        log.error({ err: error, job: job.name }, 'a run could not be noted in the ledger'),
      )
      .finally(() => underWay.delete(job.name));
    underWay.set(job.name, run);
  };
  return {
    async start() {
      const past = new Map((await jobsStore.all()).map((row) => [row.job, row]));
      tasks = jobs.map((job) => ({
        job,
        task: cronTask(job, deps.timezone, (due) => trigger(job, due.toISOString())),
      }));
      for (const { job, task } of tasks) {
        await task.start();
        const before = past.get(job.name);
        if (!isOverdue(job.expression, deps.timezone, before, clock.now())) continue;
        const underWay = before?.runner != null && (await deps.isAlive(before.runner));
        if (!underWay) trigger(job, justAfter(before));
      }
    },
    async makeUp() {
      for (const past of await jobsStore.all()) {
        const job = tasks.find((entry) => entry.job.name === past.job)?.job;
        if (!job || past.runner === null || past.runner === deps.worker) continue;
        if (!(await deps.isAlive(past.runner))) trigger(job, justAfter(past));
      }
    },
    async stop() {
      stopped = true;
      for (const { task } of tasks) await task.destroy();
      tasks = [];
      await Promise.all(underWay.values());
    },
    nextRuns: () =>
      deps.jobs.map((job) => {
        const task = tasks.find((entry) => entry.job.name === job.name)?.task;
        return { job: job.name, nextRunAt: task?.getNextRun()?.toISOString() ?? null };
      }),
  };
}

/** What was missed is taken by who begins first after the last run that was known; the beginning of time when none was. */
function justAfter(past: JobPast | undefined): string {
  return new Date(past?.lastRunAt ? Date.parse(past.lastRunAt) + 1 : 0).toISOString();
}

function cronTask(job: ScheduledJob, timezone: string, trigger: (due: Date) => void): ScheduledTask {
  const task = createTask(job.expression, ({ date }) => trigger(date), {
    timezone,
    name: job.name,
    noOverlap: true,
    suppressMissedWarning: true,
  });
  // A blocked event loop or a suspended machine: late is better than not at all.
  task.on('execution:missed', ({ date }) => trigger(date));
  return task;
}

/** Whether the job's last success is older than its last due time, to the minute; one that never succeeded is due. */
export function isOverdue(
  expression: string,
  timezone: string,
  past: JobPast | undefined,
  nowMs: number,
): boolean {
  if (!past?.lastSuccessAt) return true;
  const success = Date.parse(past.lastSuccessAt);
  const fields = expression.trim().split(/\s+/);
  const probe = createTask(fields.slice(-5).join(' '), () => undefined, { timezone });
  try {
    const newest = Math.floor(nowMs / minuteMs) * minuteMs;
    const oldest = Math.max(success, newest - lookBackMs);
    for (let at = newest; at > oldest; at -= minuteMs) if (probe.match(new Date(at))) return true;
    return success < newest - lookBackMs;
  } finally {
    void probe.destroy();
  }
}
