import type { App } from '../src/app/app.ts';

export const name = 'results';

/**
 * Writes the promised reports of runs and the results of every changed batch, and the index if it wrote any.
 */
export async function run(app: App<'local'>): Promise<{ files: string[] }> {
  const files = await app.reporting.writeDueRuns();
  files.push(...(await app.reporting.writeDueBatchResults()));
  if (files.length > 0) await app.reporting.writeIndex();
  return { files };
}
