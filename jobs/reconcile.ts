import type { App } from '../src/app.ts';
import type { Problem } from '../src/domain/problem.ts';
import { finishRun } from '../src/ledger/listings.ts';

export const name = 'reconcile';

export type ReconcilePayload = { full: boolean; followUp: boolean; signal?: AbortSignal };
export type ReconcileResult = Awaited<ReturnType<App['reconciliation']['run']>> & {
  /** Files of expected collections that were refused before the run. */
  refused?: { file: string; problems: Problem[] }[];
};

/** One reconciliation: hear what is stored, list, pair, inquire, conclude, freeze the run's figures, write the reports. */
export async function run(app: App, payload: ReconcilePayload): Promise<ReconcileResult> {
  await app.takeOver();
  const { taken } = await app.intake.takeCollections();
  const refused = taken
    .filter((one) => one.kind === 'refused')
    .map(({ file, problems }) => ({ file, problems }));
  await app.applyWebhooks(payload.signal);
  const found = await app.reconciliation.run(payload);
  const summary = { ...found, reports: app.reporting.runPaths(found.run) };
  await app.reporting.freezeRun(found.run, app.clock.iso());
  await app.ledger.write((trx) => finishRun(trx, found.run, app.clock.iso(), summary));
  await app.reporting.writeRun(found.run);
  await app.reporting.writeDueBatchResults();
  await app.reporting.writeIndex();
  return { ...summary, ...(refused.length > 0 && { refused }) };
}
