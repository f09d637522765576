import { createTask } from 'node-cron';

/** When a cron expression next comes due in its zone, by the machine's clock; null for an empty one. */
export function nextDue(expression: string, timezone: string): Date | null {
  if (expression.trim() === '') return null;
  const task = createTask(expression, () => undefined, { timezone });
  // node-cron tells the next time of a started task only; it is stopped before its timer can ring.
  void task.start();
  const next = task.getNextRun();
  void task.destroy();
  return next;
}
