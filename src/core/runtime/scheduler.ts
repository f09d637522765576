import type { Clock } from './clock.ts';
import { isJobLate, isOfGoneHost, isOverdue, pauseBeforeTry } from './job-times.ts';
import type { EndedRun, JobPast, JobsStore } from './jobs.sql.ts';
import { errorText, logEvent } from './log-events.ts';
import type { Logger } from './logger.ts';
import { nextDue } from './next-due.ts';

/** How a run ended that did not throw; `why` says what it could not do. */
export type JobOutcome =
  | { kind: 'succeeded'; counts: object }
  | { kind: 'incomplete' | 'skipped'; counts: object; why: string };

export type ScheduledJob = {
  name: string;
  /** A node-cron expression; empty: never run, never caught up. */
  expression: string;
  /** Runs the job; an error is recorded as the run's result. */
  run(): Promise<JobOutcome>;
  /** An unsuccessful run is retried, with growing pauses. */
  triesAgain?: boolean;
  /** The very first run waits for its due time. Without this, a job that never ran is made up at the start. */
  waitsWhenNew?: boolean;
};

/** Rings at the due times of a cron expression until cancelled. A missed time rings late, and once. */
export type Alarm = (
  job: Pick<ScheduledJob, 'name' | 'expression'>,
  timezone: string,
  ring: (due: Date) => void,
) => { next(): Date | null; cancel(): void };

export type Scheduler = {
  /** Runs the jobs that were missed, and from then on each job at its times. */
  start(): Promise<void>;
  /** Runs the jobs that could not begin, of processes that died, or without success. Forgets hosts that are gone. */
  makeUp(): Promise<void>;
  /** Recomputes all times after a step of the wall clock, and runs the jobs that are due. */
  rebuild(): Promise<void>;
  /** Starts no more runs and waits for those in flight. */
  stop(): Promise<void>;
  nextRuns(): { job: string; nextRunAt: string | null }[];
};

/**
 * Runs jobs by the clock. The ledger records which process took each due time, so that one process runs it however many
 * there are; a job that works in the folders of a host is run by one process of each host. It also records the last success, so that a run missed while all were down is made up.
 */
export function createScheduler(deps: {
  jobs: ScheduledJob[];
  timezone: string;
  clock: Clock;
  jobsStore: JobsStore;
  log: Logger;
  /** This process's worker id, and whether another process, named by its id, still lives. */
  worker: string;
  isAlive(worker: string): Promise<boolean>;
  /** The timers; absent: those of the process, by the machine's clock. */
  alarm?: Alarm;
}): Scheduler {
  const { clock, jobsStore, log, alarm = cronAlarm } = deps;
  const jobs = deps.jobs.filter((job) => job.expression.trim() !== '');
  const underWay = new Map<string, Promise<void>>();
  /** Due runs, by job, that could not begin: the ledger was locked for long, or the run before was under way. */
  const notBegun = new Map<string, string>();
  let alarms = new Map<string, ReturnType<Alarm>>();
  let stopped = false;

  /** `since`: the first process that begins at or after it takes the due run. */
  const runOnce = async (job: ScheduledJob, since: string, again: boolean): Promise<void> => {
    const startedAt = clock.iso();
    const { name, expression } = job;
    notBegun.set(name, since);
    const began = await jobsStore.begin(name, { at: startedAt, since, by: deps.worker, expression, again });
    if (notBegun.get(name) === since) notBegun.delete(name);
    if (!began) return;
    const end = await endOf(job);
    await jobsStore.finished(name, { startedAt, endedAt: clock.iso(), ...end });
  };
  const endOf = async (job: ScheduledJob): Promise<Pick<EndedRun, 'kind' | 'result'>> => {
    try {
      const outcome = await job.run();
      if (outcome.kind !== 'succeeded') {
        const { kind, why } = outcome;
        const text = kind === 'skipped' ? 'job was skipped' : 'job did not do its work';
        logEvent(log, 'job_incomplete', { job: job.name, result: kind, why, text });
      }
      return endWith(outcome);
    } catch (error) {
      const end = endByError(error);
      logEvent(log, 'job_failed', { job: job.name, ...end.result, err: error, text: 'job failed' });
      return end;
    }
  };
  const trigger = (job: ScheduledJob, since: string | undefined, again = false): void => {
    if (since === undefined || stopped) return;
    if (underWay.has(job.name)) {
      notBegun.set(job.name, since);
      return;
    }
    const run = runOnce(job, since, again)
      .catch((error: unknown) =>
        log.error({ err: error, job: job.name }, 'a run could not be noted in the ledger'),
      )
      .finally(() => underWay.delete(job.name));
    underWay.set(job.name, run);
  };
  const disarm = (): void => {
    for (const one of alarms.values()) one.cancel();
    alarms = new Map();
  };
  const arm = (): void => {
    disarm();
    for (const job of jobs)
      alarms.set(
        job.name,
        alarm(job, deps.timezone, (due) => trigger(job, due.toISOString())),
      );
  };
  /** A job that was due a while ago, and did not run: this process was down, or the clock was. */
  const noteMissed = ({ name, expression }: ScheduledJob, past: JobPast | undefined): void => {
    if (stopped || underWay.has(name) || !isJobLate(expression, deps.timezone, past, clock.now())) return;
    const { lastSuccessAt = null } = past ?? {};
    const text = `a scheduled run of ${name} was missed; it runs now`;
    logEvent(log, 'schedule_missed', { job: name, last_success_at: lastSuccessAt, text });
  };
  const catchUp = async (): Promise<void> => {
    const pasts = new Map((await jobsStore.own()).map((row) => [row.job, row]));
    for (const job of jobs) {
      const past = pasts.get(job.name);
      if (job.waitsWhenNew && !past?.lastRunAt) continue;
      if (!isOverdue(job.expression, deps.timezone, past, clock.now())) continue;
      const isRunning = past?.runner != null && (await deps.isAlive(past.runner));
      if (isRunning) continue;
      noteMissed(job, past);
      trigger(job, justAfter(past));
    }
  };
  /** A host that never comes back would stay overdue. */
  const forgetGone = async (): Promise<void> => {
    const all = await jobsStore.all();
    const gone = all.filter((past) => isOfGoneHost(past, deps.timezone, clock.now()));
    if (gone.length > 0) await jobsStore.forget(gone);
  };
  return {
    async start() {
      arm();
      await catchUp();
    },
    async makeUp() {
      await forgetGone();
      for (const job of jobs) trigger(job, notBegun.get(job.name));
      for (const past of await jobsStore.own()) {
        const job = jobs.find(({ name }) => name === past.job);
        if (!job || past.runner === deps.worker) continue;
        if (past.runner !== null) {
          if (!(await deps.isAlive(past.runner))) trigger(job, justAfter(past));
          continue;
        }
        const mayTry = job.triesAgain && pauseBeforeTry(past, clock.now()) === 0;
        // The end of a scheduled run may have been corrected: it counted as a success before.
        const isOwed =
          past.expression !== null || isOverdue(job.expression, deps.timezone, past, clock.now());
        if (mayTry && isOwed) trigger(job, justAfter(past), true);
      }
    },
    async rebuild() {
      if (stopped) return;
      notBegun.clear();
      arm();
      await catchUp();
    },
    async stop() {
      stopped = true;
      disarm();
      await Promise.all(underWay.values());
    },
    nextRuns: () =>
      deps.jobs.map(({ name }) => ({
        job: name,
        nextRunAt: alarms.get(name)?.next()?.toISOString() ?? null,
      })),
  };
}

/** How a run that did not throw is recorded, by a schedule or by a person. */
export function endWith(outcome: JobOutcome): Pick<EndedRun, 'kind' | 'result'> {
  const { kind, counts } = outcome;
  return { kind, result: kind === 'succeeded' ? counts : { ...counts, why: outcome.why } };
}

/** How a run that threw is recorded. */
export function endByError(error: unknown): { kind: 'failed'; result: { error: string } } {
  return { kind: 'failed', result: { error: errorText(error) } };
}

/** The first process that begins after the last recorded run takes the missed one. The epoch where there was no run. */
function justAfter(past: JobPast | undefined): string {
  return new Date(past?.lastRunAt ? Date.parse(past.lastRunAt) + 1 : 0).toISOString();
}

/** The longest timer: the wall clock may step before the due time (P33). */
const longestTimerMs = 60_000;

/**
 * Rings by our own timers. After a step of the clock, node-cron's scheduler walks through every skipped time. For a step
 * of a year that blocks the process for an hour.
 */
function cronAlarm(...[{ expression }, timezone, ring]: Parameters<Alarm>): ReturnType<Alarm> {
  let timer: NodeJS.Timeout | undefined;
  let due = nextDue(expression, timezone, Date.now());
  const wait = (): void => {
    if (due === null) return;
    const waitMs = Math.min(due.getTime() - Date.now(), longestTimerMs);
    timer = setTimeout(look, Math.max(0, waitMs));
  };
  const look = (): void => {
    if (due !== null && Date.now() >= due.getTime()) {
      ring(due);
      due = nextDue(expression, timezone, Date.now());
    }
    wait();
  };
  wait();
  return { next: () => due, cancel: () => clearTimeout(timer) };
}
