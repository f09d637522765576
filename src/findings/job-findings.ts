import { isJobLate, isUnderWay } from '../core/runtime/job-times.ts';
import { type JobPast, jobName } from '../core/runtime/jobs.sql.ts';
import { scheduleList } from '../core/settings/schedule-list.ts';
import type { Config } from '../core/settings/settings.ts';
import { type Finding, isShown, plainFinding } from './finding.ts';
import type { FindingFace } from './kinds.ts';

type JobFinding = Finding<'schedule_failed' | 'schedule_missed'>;

/** What is wrong with the schedules now. A job under way is neither late nor failed. */
export function jobFindings(
  face: FindingFace,
  pasts: readonly JobPast[],
  { schedules, nowMs }: { schedules: Config['schedules']; nowMs: number },
): JobFinding[] {
  const expressions = new Map(scheduleList(schedules).map(({ job, expression }) => [job, expression]));
  return pasts.flatMap((past) => {
    const expression = expressions.get(past.job) ?? '';
    const isLate = !isUnderWay(past, nowMs) && isJobLate(expression, schedules.timezone, past, nowMs);
    return jobFinding(face, past, { expression, isLate, nowMs }) ?? [];
  });
}

/** Why a job does not count as done: its last run failed, or it missed its time. Null: nothing, or it is off. */
export function jobFinding(
  face: FindingFace,
  past: JobPast,
  { expression, isLate, nowMs }: { expression: string; isLate: boolean; nowMs: number },
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
  return isLate ? { ...plainFinding('schedule_missed'), ...plain, facts: { job, expression } } : null;
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
