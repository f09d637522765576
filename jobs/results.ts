import type { LocalApp } from '../src/app.ts';

export const name = 'results';

/** Writes the results of every batch that changed since, and the index where any did. Asks one question where none did. */
export async function run(app: LocalApp): Promise<{ files: string[] }> {
  const files = await app.reporting.writeDueBatchResults();
  if (files.length > 0) await app.reporting.writeIndex();
  return { files };
}
