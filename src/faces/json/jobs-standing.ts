import * as backupJob from '../../../jobs/backup.ts';
import type { App } from '../../app/app.ts';
import { isOwnJob, type JobPast, jobName } from '../../core/runtime/jobs.sql.ts';
import { nextDue } from '../../core/runtime/next-due.ts';
import { isServing } from '../../core/runtime/serve-lock.ts';
import { anyWorkerLives } from '../../core/runtime/worker-lock.ts';
import { livesAnywhere, workedSince } from '../../core/runtime/workers.sql.ts';
import { isHostJob, scheduleList } from '../../core/settings/schedule-list.ts';
import type { StatusJson } from '../../core/shapes/status-shapes.ts';
import { isSharedLedger } from '../../core/storage/place.ts';
import type { Scene } from '../../findings/finders.ts';
import { isLate, jobFinding, type Working } from '../../findings/job-findings.ts';
import type { FindingFace } from '../../findings/kinds.ts';

/** `elsewhere`: a daemon runs for another data folder, perhaps on another machine. Only with a shared ledger. */
export type DaemonStanding = { running: boolean; elsewhere?: boolean };

/** A scheduled job as `status` and `doctor` show it. */
export type JobStanding = Awaited<ReturnType<typeof jobsStanding>>[number];

const hourMs = 3_600_000;

export async function daemonStanding({ config, ledger }: App<'looking'>): Promise<DaemonStanding> {
  const running = isServing(config.dataDir);
  if (running || !isSharedLedger(ledger.place)) return { running };
  return { running, elsewhere: await livesAnywhere(ledger, 'serve') };
}

async function workingOn(app: App<'looking'>, { running, elsewhere }: DaemonStanding): Promise<Working> {
  if (running || elsewhere) return 'serve';
  const { ledger, clock } = app;
  const hourAgo = new Date(clock.now() - hourMs).toISOString();
  return (await workedSince(ledger.db, hourAgo)) || (await anyWorkerLives(ledger)) ? 'commands' : 'idle';
}

/** What a command finds that looks at the ledger. `daemon`: as `daemonStanding` says. */
export async function sceneOf<F extends FindingFace>(
  app: App<'looking'>,
  face: F,
  daemon: DaemonStanding,
): Promise<Scene & { face: F }> {
  const { config, ledger, clock, account } = app;
  const backup = { job: backupJob.name, expression: backupJob.expressionOf(config) };
  const jobs = [...scheduleList(config.schedules), ...(config.ledger.backupDir === '' ? [] : [backup])];
  return { face, db: ledger.db, ledger, clock, config, account, work: await workingOn(app, daemon), jobs };
}

/** Every job with its schedule, how its last run ended, and when it runs next. */
export async function jobsStanding(
  app: App<'looking'>,
  daemon: DaemonStanding,
  { work, jobs }: Pick<Scene, 'work' | 'jobs'>,
) {
  const { timezone } = app.config.schedules;
  const serves = work === 'serve';
  const all = await app.jobsStore.all();
  const rows = jobs.flatMap(({ job, expression }) => {
    const pasts = all.filter((one) => one.job === job);
    const own = pasts.find((past) => isOwnJob(past, app.host));
    const others = pasts.filter((past) => past !== own);
    return [
      { job, expression, past: own, here: true },
      ...others.map((past) => ({ job, expression, past, here: false })),
    ];
  });
  return Promise.all(
    rows.map(async ({ job, expression, past, here }) => {
      const place = isHostJob(job) ? (here ? app.host.name : (past?.place ?? '')) : '';
      const nowMs = app.clock.now();
      const late = isLate(past, { expression, timezone, work, nowMs });
      const runs = isHostJob(job) && here ? daemon.running : serves && (here || !late);
      return {
        job,
        /** Whose folders it works in; null where there is one host only, and for a job of the whole ledger. */
        host: place === '' ? null : place,
        here,
        /** Empty: switched off. */
        expression,
        last_run_at: past?.lastRunAt ?? null,
        last_result: past ? resultOf(past, serves) : null,
        /** Null when it is off, or when no daemon runs it. */
        next_run_at: runs ? (nextDue(expression, timezone, nowMs)?.toISOString() ?? null) : null,
        /** Its last due time has passed without it. */
        late,
        finding: past ? jobFinding('status', past, { expression, timezone, isLate: late, nowMs }) : null,
      };
    }),
  );
}

function resultOf(
  { kind, lastResult }: JobPast,
  serves: boolean,
): StatusJson['schedules'][number]['last_result'] {
  if (kind === null) return null;
  const counts: unknown = lastResult === null ? {} : JSON.parse(lastResult);
  const given = typeof counts === 'object' && counts !== null ? counts : {};
  // The process that ran the job is gone and recorded no result.
  const isBroken = kind === 'running' && !serves;
  return { ...given, kind, ...(isBroken && { why: 'it may have been interrupted: no daemon runs' }) };
}

/** The job's name for people, with the host that it works on where there are several. */
export function jobLabel({ job, host }: Pick<JobStanding, 'job' | 'host'>): string {
  return jobName({ job, place: host ?? '' });
}
