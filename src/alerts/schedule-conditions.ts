import { graceMs, isLate, isUnderWay } from '../runtime/job-times.ts';
import type { JobPast } from '../runtime/jobs.sql.ts';
import { scheduleList } from '../settings/schedule-list.ts';
import type { Config } from '../settings/settings.ts';
import { type Condition, plainCondition } from './condition.ts';

/** What is wrong with the schedules now, judged as `status` does. A job under way is neither late nor failed. */
export function scheduleConditions(
  schedules: Config['schedules'],
  pasts: readonly JobPast[],
  nowMs: number,
): Condition[] {
  return scheduleList(schedules).flatMap(({ job, expression }) => {
    const past = pasts.find((one) => one.job === job);
    if (!past || expression.trim() === '' || isUnderWay(past, nowMs)) return [];
    const failed = past.kind === 'failed' || past.kind === 'incomplete';
    if (failed && !isRecent(past.lastSuccessAt, nowMs)) return [plainCondition('schedule_failed', job)];
    const late = isLate(expression, schedules.timezone, past, nowMs);
    return late ? [plainCondition('schedule_missed', job)] : [];
  });
}

/** A job that runs every minute and failed once is no alert yet. */
function isRecent(lastSuccessAt: string | null, nowMs: number): boolean {
  return lastSuccessAt !== null && Math.abs(nowMs - Date.parse(lastSuccessAt)) <= graceMs;
}
