import { graceMs, isJobLate, isUnderWay } from '../../core/runtime/job-times.ts';
import { type JobPast, jobName } from '../../core/runtime/jobs.sql.ts';
import { scheduleList } from '../../core/settings/schedule-list.ts';
import type { Config } from '../../core/settings/settings.ts';
import { type Condition, plainCondition } from './condition.ts';

/** What is wrong with the schedules now, judged as `status` does. A job under way is neither late nor failed. */
export function scheduleConditions(
  schedules: Config['schedules'],
  pasts: readonly JobPast[],
  nowMs: number,
): Condition[] {
  const expressions = new Map(scheduleList(schedules).map(({ job, expression }) => [job, expression]));
  return pasts.flatMap((past) => {
    const expression = expressions.get(past.job) ?? '';
    if (expression.trim() === '' || isUnderWay(past, nowMs)) return [];
    const subject = jobName(past);
    const failed = past.kind === 'failed' || past.kind === 'incomplete';
    if (failed && !isRecent(past.lastSuccessAt, nowMs)) return [plainCondition('schedule_failed', subject)];
    const late = isJobLate(expression, schedules.timezone, past, nowMs);
    return late ? [plainCondition('schedule_missed', subject)] : [];
  });
}

/** A job that runs every minute and failed once is no alert yet. */
function isRecent(lastSuccessAt: string | null, nowMs: number): boolean {
  return lastSuccessAt !== null && Math.abs(nowMs - Date.parse(lastSuccessAt)) <= graceMs;
}
