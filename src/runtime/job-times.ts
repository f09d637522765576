import { createTask } from 'node-cron';
import type { JobPast } from './jobs.sql.ts';

const minuteMs = 60_000;
/** How far back the last due time is looked for; a job rarer than this is caught up when it has not run for so long. */
const lookBackMs = 40 * 24 * 60 * minuteMs;

/**
 * Whether the job's last success is older than its last due time, to the minute; one that never succeeded is due, and so
 * is one whose success was noted by a clock that was set back since.
 */
export function isOverdue(
  expression: string,
  timezone: string,
  past: Pick<JobPast, 'lastSuccessAt'> | undefined,
  nowMs: number,
): boolean {
  if (!past?.lastSuccessAt) return true;
  const success = Date.parse(past.lastSuccessAt);
  if (success > nowMs + minuteMs) return true;
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

/** So often a run that did not do its work is tried again; then the next due time comes. */
const mostTries = 6;
const firstPauseMs = 5 * minuteMs;

/** Milliseconds until a run that did not do its work is tried again, each pause twice the one before; null: no more. */
export function pauseBeforeTry(
  { kind, tries, endedAt }: Pick<JobPast, 'kind' | 'tries' | 'endedAt'>,
  nowMs: number,
): number | null {
  if (kind === null || kind === 'running' || kind === 'succeeded' || tries >= mostTries) return null;
  const pauseMs = firstPauseMs * 2 ** tries;
  // It ended under a clock that was set back since (P33).
  const sinceMs = endedAt === null ? pauseMs : Math.abs(nowMs - Date.parse(endedAt));
  return Math.max(0, pauseMs - sinceMs);
}
