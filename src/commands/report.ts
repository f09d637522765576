import * as reportJob from '../../jobs/report.ts';
import { getBatch } from '../ledger/batches.ts';
import { type Context, withLocal } from './context.ts';
import { unlessQuiet } from './describe.ts';
import { type Result, Stop } from './result.ts';

/** `report [RUN|BATCH]`: the same bytes again for a run; the present state for a batch. */
export async function report(context: Context, args: string[]): Promise<Result> {
  return withLocal(context, async (app) => {
    const [name] = args;
    const files = name === undefined ? (await reportJob.run(app)).files : await byName(app, name);
    return unlessQuiet(context, { code: 0, lines: files, json: { files } });
  });
}

async function byName(app: Parameters<Parameters<typeof withLocal>[1]>[0], name: string): Promise<string[]> {
  if (/^\d{8}T\d{6}Z(-\d+)?$/.test(name)) {
    const files = await app.reporting.writeRun(name);
    if (files.length === 0)
      throw new Stop(2, `no run ${name} in this ledger: counterfoil status names the last one`);
    return [...files, await app.reporting.writeIndex()];
  }
  const batch = await getBatch(app.ledger.db, app.config.mode, name);
  if (!batch) throw new Stop(2, `no run or batch "${name}" in this ledger: counterfoil status lists them`);
  await app.applyWebhooks();
  const { files } = await app.reporting.writeBatchResults(batch.id, { force: true });
  return [...files, await app.reporting.writeIndex()];
}
