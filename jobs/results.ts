import type { App } from '../src/app/app.ts';

export const name = 'results';

/** Writes the reports of runs that were promised and the results of every batch that changed since, and the index where any did. */
export async function run(app: App<'local'>): Promise<{ files: string[] }> {
  const files = await app.reporting.writeDueRuns();
  files.push(...(await app.reporting.writeDueBatchResults()));
  if (files.length > 0) await app.reporting.writeIndex();
  return { files };
}
