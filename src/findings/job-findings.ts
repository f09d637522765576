import { firstMissed, isJobLate, isUnderWay } from '../core/runtime/job-times.ts';
import { type JobPast, jobName } from '../core/runtime/jobs.sql.ts';
import { type Finding, isShown, plainFinding } from './finding.ts';
import type { FindingFace } from './kinds.ts';

export type JobFinding = Finding<'schedule_failed' | 'schedule_missed'>;
export type JobSchedule = { job: string; expression: string };
/**
 * Who works on the ledger. `serve`: a process that runs the schedules. `idle`: neither that nor a command for an hour.
 * `commands`: a command within the hour, perhaps from cron.
 */
export type Working = 'serve' | 'idle' | 'commands';

/** Whether a job should have run by now. With commands from cron the schedules do not matter: only a daemon can miss them. */
export function isLate(
  past: JobPast | undefined,
  {
    expression,
    timezone,
    work,
    nowMs,
  }: { expression: string; timezone: string; work: Working; nowMs: number },
): boolean {
  const isKept =
    work === 'serve' ? !(past && isUnderWay(past, nowMs)) : work === 'idle' && past?.expression != null;
  return isKept && isJobLate(expression, timezone, past, nowMs);
}

/** What is wrong with the schedules now. A job under way is neither late nor failed. */
export function jobFindings(
  face: FindingFace,
  pasts: readonly JobPast[],
  given: { jobs: readonly JobSchedule[]; timezone: string; work: Working; nowMs: number },
): JobFinding[] {
  const expressions = new Map(given.jobs.map(({ job, expression }) => [job, expression]));
  return pasts.flatMap((past) => {
    const expression = expressions.get(past.job) ?? '';
    return (
      jobFinding(face, past, { expression, isLate: isLate(past, { ...given, expression }), ...given }) ?? []
    );
  });
}
/** Why a job does not count as done: its last run failed, or it missed its time. Null: nothing, or it is off. */
export function jobFinding(
  face: FindingFace,
  past: JobPast,
  {
    expression,
    timezone,
    isLate,
    nowMs,
  }: { expression: string; timezone: string; isLate: boolean; nowMs: number },
): JobFinding | null {
  const { job, kind, lastSuccessAt: since } = past;
  if (expression.trim() === '') return null;
  const measure = since === null ? Number.POSITIVE_INFINITY : Math.abs(nowMs - Date.parse(since));
  const plain = { subject: jobName(past), since, measure };
  const failed =
    kind === 'failed' || kind === 'incomplete'
      ? { ...plainFinding('schedule_failed'), ...plain, facts: { job, result: kind, why: whyOf(past) } }
      : null;
  if (failed && isShown(failed, face)) return failed;
  if (!isLate) return null;
  const due = firstMissed(expression, timezone, past, nowMs)?.toISOString() ?? null;
  return { ...plainFinding('schedule_missed'), ...plain, facts: { job, due } };
}

/** Why the last run of a job did not do its work, as it noted that. */
function whyOf({ lastResult }: JobPast): string | null {
  const result: unknown = lastResult === null ? {} : JSON.parse(lastResult);
  return result === null || typeof result !== 'object' ? null : notedReason(result);
}

/** The reason in the result of a run; null where none was noted. */
export function notedReason(result: object): string | null {
  const noted = new Map<string, unknown>(Object.entries(result));
  const [why] = ['why', 'error'].map((name) => noted.get(name)).filter((one) => typeof one === 'string');
  return why ?? null;
}
