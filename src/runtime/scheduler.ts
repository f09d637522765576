import { createTask, type ScheduledTask } from 'node-cron';
import type { JobEnd } from '../storage/tables/job-table.ts';
import type { Clock } from './clock.ts';
import { isOverdue, pauseBeforeTry } from './job-times.ts';
import type { JobPast, JobsStore } from './jobs.sql.ts';
import type { Logger } from './logger.ts';

/** How a run ended that did not throw; `why` says what it could not do. */
export type JobOutcome =
  | { kind: 'succeeded'; counts: object }
  | { kind: 'incomplete' | 'skipped'; counts: object; why: string };

export type ScheduledJob = {
  name: string;
  /** A node-cron expression; empty: never run, never caught up. */
  expression: string;
  /** What it throws is noted as the run's result. */
  run(): Promise<JobOutcome>;
  /** A run that did not do its work is tried again, with growing pauses. */
  triesAgain?: boolean;
  /** The first run of all waits for its due time; else what never ran is made up at the start. */
  waitsWhenNew?: boolean;
};

/** Rings at the due times of a cron expression, from its start until it is destroyed. */
export type Alarm = (
  job: Pick<ScheduledJob, 'name' | 'expression'>,
  timezone: string,
  ring: (due: Date) => void,
) => Pick<ScheduledTask, 'start' | 'destroy' | 'getNextRun'>;

export type Scheduler = {
  /** Runs what came due while nobody ran it, and then each job at its times. */
  start(): Promise<void>;
  /** Runs again what a process that died was about, and what did not do its work. */
  makeUp(): Promise<void>;
  /** Computes all times again, after a step of the wall clock, and runs what is due by it. */
  rebuild(): Promise<void>;
  /** Starts no further run and waits for those under way. */
  stop(): Promise<void>;
  nextRuns(): { job: string; nextRunAt: string | null }[];
};

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
  /** The timers; absent: those of node-cron, by the machine's clock. */
  alarm?: Alarm;
}): Scheduler {
  const { clock, jobsStore, log, alarm = cronTask } = deps;
  const jobs = deps.jobs.filter((job) => job.expression.trim() !== '');
  const underWay = new Map<string, Promise<void>>();
  let tasks: { job: ScheduledJob; task: ReturnType<Alarm> }[] = [];
  let stopped = false;

  /** `since`: what is due is taken by who begins first at or after it. */
  const runOnce = async (job: ScheduledJob, since: string, again: boolean): Promise<void> => {
    const startedAt = clock.iso();
    const { name, expression } = job;
    if (!(await jobsStore.begin(name, { at: startedAt, since, by: deps.worker, expression, again }))) return;
    const end = await endOf(job);
    await jobsStore.finished(name, { startedAt, endedAt: clock.iso(), ...end });
  };
  const endOf = async (job: ScheduledJob): Promise<{ kind: JobEnd; result: object }> => {
    try {
      const outcome = await job.run();
      if (outcome.kind === 'succeeded') return { kind: outcome.kind, result: outcome.counts };
      const { kind, counts, why } = outcome;
      log.warn({ job: job.name, result: kind, why }, 'job did not do its work');
      return { kind, result: { ...counts, why } };
    } catch (error) {
      log.error({ err: error, job: job.name }, 'job failed');
      return { kind: 'failed', result: { error: error instanceof Error ? error.message : String(error) } };
    }
  };
  const trigger = (job: ScheduledJob, since: string, again = false): void => {
    if (stopped || underWay.has(job.name)) return;
    const run = runOnce(job, since, again)
      .catch((error: unknown) =>
        log.error({ err: error, job: job.name }, 'a run could not be noted in the ledger'),
      )
      .finally(() => underWay.delete(job.name));
    underWay.set(job.name, run);
  };
  const disarm = async (): Promise<void> => {
    const old = tasks;
    tasks = [];
    for (const { task } of old) await task.destroy();
  };
  const arm = async (): Promise<void> => {
    await disarm();
    tasks = jobs.map((job) => ({
      job,
      task: alarm(job, deps.timezone, (due) => trigger(job, due.toISOString())),
    }));
    for (const { task } of tasks) await task.start();
  };
  const catchUp = async (): Promise<void> => {
    const pasts = new Map((await jobsStore.all()).map((row) => [row.job, row]));
    for (const job of jobs) {
      const past = pasts.get(job.name);
      if (job.waitsWhenNew && !past?.lastRunAt) continue;
      if (!isOverdue(job.expression, deps.timezone, past, clock.now())) continue;
      const isRunning = past?.runner != null && (await deps.isAlive(past.runner));
      if (!isRunning) trigger(job, justAfter(past));
    }
  };
  return {
    async start() {
      await arm();
      await catchUp();
    },
    async makeUp() {
      for (const past of await jobsStore.all()) {
        const job = jobs.find(({ name }) => name === past.job);
        if (!job || past.runner === deps.worker) continue;
        if (past.runner !== null) {
          if (!(await deps.isAlive(past.runner))) trigger(job, justAfter(past));
          continue;
        }
        // To look for the last due time of a rare job takes longest, and most jobs did their work.
        const mayTry = job.triesAgain && pauseBeforeTry(past, clock.now()) === 0;
        if (mayTry && isOverdue(job.expression, deps.timezone, past, clock.now()))
          trigger(job, justAfter(past), true);
      }
    },
    async rebuild() {
      if (stopped) return;
      await arm();
      await catchUp();
    },
    async stop() {
      stopped = true;
      await disarm();
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

function cronTask(...[job, timezone, trigger]: Parameters<Alarm>): ScheduledTask {
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
