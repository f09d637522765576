import type { App } from '../src/app/app.ts';

export const name = 'report';

/**
 * Writes the results of every changed batch, the files of the last run and the last closed month, and the index. Removes
 * the files of runs older than `reports.keep_days`. Returns the files that it wrote.
 */
export async function run(
  app: Pick<App<'local'>, 'clock' | 'applyWebhooks' | 'reporting'>,
): Promise<{ files: string[] }> {
  await app.applyWebhooks();
  const files = await app.reporting.writeDueRuns();
  files.push(...(await app.reporting.writeDueBatchResults()));
  const last = await app.reporting.lastRun();
  if (last) files.push(...(await app.reporting.writeRun(last)));
  files.push(...(await app.reporting.writeLastPeriod()));
  try {
    await app.reporting.removeOldRuns(app.clock.now());
  } finally {
    // Also where a file could not be removed: the index links what is there.
    files.push(await app.reporting.writeIndex());
  }
  return { files };
}
