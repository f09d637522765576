import { graceMs, isLate, isUnderWay } from '../runtime/job-times.ts';
import type { JobPast } from '../runtime/jobs.sql.ts';
import { scheduleList } from '../settings/schedule-list.ts';
import type { Config } from '../settings/settings.ts';
import { type Condition, plainCondition } from './condition.ts';

type Verdict = { of: string; late: boolean; checkedMs: number };

/**
 * Judges schedules as `status` does. It remembers verdicts: to search the due times of a rare job takes a second, and
 * it is asked every minute.
 */
export function createJobWatch(schedules: Config['schedules']) {
  const { timezone } = schedules;
  const known = new Map<string, Verdict>();

  /** Searches only the time since the last look. A late job stays late until it succeeds. */
  function late(past: JobPast, expression: string, nowMs: number): boolean {
    const of = `${past.lastSuccessAt} ${expression}`;
    const before = known.get(past.job);
    if (before?.of === of && before.late && nowMs >= before.checkedMs) return true;
    const isFresh = before?.of === of && before.checkedMs <= nowMs;
    const lastSuccessAt = isFresh
      ? newer(past.lastSuccessAt, before.checkedMs - graceMs)
      : past.lastSuccessAt;
    const verdict = isLate(expression, timezone, { ...past, lastSuccessAt }, nowMs);
    known.set(past.job, { of, late: verdict, checkedMs: nowMs });
    return verdict;
  }
  return {
    /** What is wrong with the schedules now. A job under way is neither late nor failed. */
    conditions(pasts: readonly JobPast[], nowMs: number): Condition[] {
      return scheduleList(schedules).flatMap(({ job, expression }) => {
        const past = pasts.find((one) => one.job === job);
        if (!past || expression.trim() === '' || isUnderWay(past, nowMs)) return [];
        const failed = past.kind === 'failed' || past.kind === 'incomplete';
        if (failed && !isRecent(past.lastSuccessAt, nowMs)) return [plainCondition('schedule_failed', job)];
        return late(past, expression, nowMs) ? [plainCondition('schedule_missed', job)] : [];
      });
    },
  };
}

/** A job that runs every minute and failed once is no alert yet. */
function isRecent(lastSuccessAt: string | null, nowMs: number): boolean {
  return lastSuccessAt !== null && Math.abs(nowMs - Date.parse(lastSuccessAt)) <= graceMs;
}

function newer(at: string | null, ms: number): string | null {
  return at === null || Date.parse(at) >= ms ? at : new Date(ms).toISOString();
}
