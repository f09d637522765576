import { createTask } from 'node-cron';

/** When a cron expression next comes due in its zone, ISO UTC; null for an empty one. Starts nothing that stays. */
export async function nextRun(expression: string, timezone: string): Promise<string | null> {
  if (expression.trim() === '') return null;
  const task = createTask(expression, () => undefined, { timezone });
  await task.start();
  const next = task.getNextRun();
  await task.destroy();
  return next?.toISOString() ?? null;
}
