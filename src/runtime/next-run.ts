import { createTask } from 'node-cron';

/** The next due time of a cron expression in its zone, by the machine's clock; null for an empty expression. */
export function nextDue(expression: string, timezone: string): Date | null {
  if (expression.trim() === '') return null;
  const task = createTask(expression, () => undefined, { timezone });
  // node-cron computes the next time of a started task only. The task is destroyed before its timer fires.
  void task.start();
  const next = task.getNextRun();
  void task.destroy();
  return next;
}
