import type { App } from '../src/app/app.ts';
import { promiseReports } from '../src/books/reports-due.sql.ts';
import { statementJson } from '../src/books/statement/statement-json.ts';
import { leftOutJson } from '../src/core/domain/left-out.ts';
import { runError } from '../src/core/domain/run-error.ts';
import { tell } from '../src/core/ledger/events.ts';
import type { JobOutcome } from '../src/core/runtime/scheduler.ts';
import type { JsonOf } from '../src/core/shapes/json-shapes.ts';
import { noteLedgerBytes } from '../src/custody/growth.ts';
import type { TakenCollections } from '../src/intake/collection-files.ts';
import { pruneUnmatched } from '../src/watching/webhooks/prune-unmatched.sql.ts';
import { type OnRefused, tellRefused } from './intake.ts';

export const name = 'reconcile';
/** The name of the job that reads the whole list. */
export const fullName = 'reconcile_full';

export type ReconcilePayload = {
  full: boolean;
  followUp: boolean;
  signal?: AbortSignal;
  /** Receives each file of expected collections that was refused, whole or in some rows. */
  onRefused?: OnRefused;
};
export type ReconcileResult = JsonOf<'reconcile'>;

/**
 * Runs one reconciliation. It applies webhooks, lists, pairs, looks up, draws conclusions, freezes the run's
 * figures and writes the reports.
 */
export async function run(app: App, payload: ReconcilePayload): Promise<ReconcileResult> {
  const startedAt = app.clock.now();
  await app.takeOver();
  const { taken } = await app.intake.takeCollections();
  for (const one of taken) tellRefused(one, payload.onRefused);
  const refused = taken.flatMap((one) => (one.kind === 'refused' ? [refusedJson(one)] : []));
  const expected = taken.flatMap((one) => (one.kind === 'taken' ? [takenJson(one)] : []));
  await app.applyWebhooks(payload.signal);
  const result = await app.reconciliation.run(payload);
  const error = runError(app.config, result, payload.signal?.aborted ?? false);
  const summary = await app.reporting.freezeRun(result.run, app.clock.iso(), async (trx, frozen) => {
    const whole: ReconcileResult = {
      ...result,
      verdict: frozen.verdict,
      statement: statementJson(frozen.currencies),
      reports: app.reporting.runPaths(result.run),
      ...(expected.length > 0 && { taken: expected }),
      ...(refused.length > 0 && { refused }),
      ...(error !== undefined && { error }),
    };
    await noteLedgerBytes(trx, result.run);
    await promiseReports(trx, result.run, whole);
    const currencies = Object.fromEntries(frozen.currencies.map((one) => [one.currency, one.verdict]));
    const { run, complete } = result;
    const data = { run, complete, verdict: frozen.verdict, currencies };
    await tell(trx, app.clock.iso(), [{ type: 'run.finished', data }]);
    return whole;
  });
  await pruneUnmatched(app.ledger, app.clock.now());
  await app.reporting.writeDueRuns();
  await app.reporting.writeDueBatchResults();
  await app.reporting.writeIndex();
  const about = { kind: 'run' as const, name: result.run };
  app.traces
    .begin({ name: 'reconciliation', about, startedAt, fields: { run: result.run } })
    .end({ verdict: summary.verdict });
  return summary;
}

/** Returns a run's outcome as a job: it succeeded only when it could see all that it compares (P35). */
export function outcomeOf({
  reports: _reports,
  taken: _taken,
  refused: _refused,
  error,
  ...counts
}: ReconcileResult): JobOutcome {
  const { complete, trouble } = counts;
  const why = error ?? trouble ?? (complete === false ? 'the list is not proven complete' : undefined);
  return why === undefined ? { kind: 'succeeded', counts } : { kind: 'incomplete', counts, why };
}

function refusedJson({
  file,
  problems,
  problemCount,
  unkept,
}: Extract<TakenCollections, { kind: 'refused' }>) {
  return { file, problem_count: problemCount, problems, ...(unkept !== undefined && { error: unkept }) };
}

function takenJson({ id, file, rows, totals, skipped }: Extract<TakenCollections, { kind: 'taken' }>) {
  return { id, file, rows, totals, ...leftOutJson(skipped) };
}
