import type { JobPast } from './jobs.sql.ts';
import { nextDue } from './next-due.ts';

const minuteMs = 60_000;

/**
 * Whether a due time passed since the job's last success. A job that never succeeded is overdue. So is one whose recorded
 * success lies in the future, because the clock was set back since.
 */
export function isOverdue(
  expression: string,
  timezone: string,
  past: Pick<JobPast, 'lastSuccessAt'> | undefined,
  nowMs: number,
): boolean {
  if (!past?.lastSuccessAt || Date.parse(past.lastSuccessAt) > nowMs + minuteMs) return true;
  return firstMissed(expression, timezone, past, nowMs) !== null;
}

/** The first due time since the job's last success; null without one, and without a success up to now. */
export function firstMissed(
  expression: string,
  timezone: string,
  { lastSuccessAt }: Pick<JobPast, 'lastSuccessAt'>,
  nowMs: number,
): Date | null {
  return lastSuccessAt === null ? null : nextDue(expression, timezone, Date.parse(lastSuccessAt), nowMs);
}

/** A job due within this time may still wait for its turn. */
export const graceMs = 15 * minuteMs;

/**
 * Whether the job's last due time passed {@link graceMs} ago without a success. A job that is off, or that never ran, is
 * not late.
 */
export function isJobLate(
  expression: string,
  timezone: string,
  past: Pick<JobPast, 'lastRunAt' | 'lastSuccessAt'> | undefined,
  nowMs: number,
): boolean {
  if (expression.trim() === '' || past?.lastRunAt == null) return false;
  const success = past.lastSuccessAt === null ? 0 : Date.parse(past.lastSuccessAt);
  const agoMs = nowMs - success;
  if (agoMs >= -minuteMs && agoMs <= graceMs) return false;
  return isOverdue(expression, timezone, past, agoMs < 0 ? nowMs : nowMs - graceMs);
}

/** So long after its first missed time a host counts as gone. */
const goneMs = 7 * 24 * 60 * minuteMs;

/** Whether the host of a job has run nothing for {@link goneMs} and counts as gone: its past is deleted. */
export function isOfGoneHost(past: JobPast, timezone: string, nowMs: number): boolean {
  const { host, expression, lastRunAt } = past;
  if (host === '' || lastRunAt === null) return false;
  const ranMs = Date.parse(lastRunAt);
  const missedMs = expression?.trim() ? nextDue(expression, timezone, ranMs, nowMs)?.getTime() : ranMs;
  return missedMs !== undefined && missedMs < nowMs - goneMs;
}

/** A run that takes longer hangs. A run that waits an hour for another reconciliation does not. */
const longestRunMs = 120 * minuteMs;

/** Whether a run is under way that may still do its work. One that hangs is judged as if it had not begun. */
export function isUnderWay({ kind, lastRunAt }: Pick<JobPast, 'kind' | 'lastRunAt'>, nowMs: number): boolean {
  // The beginning may lie in the future, if the clock was set back since (P33).
  return kind === 'running' && lastRunAt !== null && Math.abs(nowMs - Date.parse(lastRunAt)) <= longestRunMs;
}

/** How often an unsuccessful run is retried before its next due time. */
const mostTries = 6;
const firstPauseMs = 5 * minuteMs;

/** Milliseconds until an unsuccessful run is retried, twice as long each time; null: no more retries. */
export function pauseBeforeTry(
  { kind, tries, endedAt }: Pick<JobPast, 'kind' | 'tries' | 'endedAt'>,
  nowMs: number,
): number | null {
  if (kind === null || kind === 'running' || kind === 'succeeded' || tries >= mostTries) return null;
  const pauseMs = firstPauseMs * 2 ** tries;
  // The end may lie in the future, if the clock was set back since (P33).
  const sinceMs = endedAt === null ? pauseMs : Math.abs(nowMs - Date.parse(endedAt));
  return Math.max(0, pauseMs - sinceMs);
}
