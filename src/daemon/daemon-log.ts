import type * as reconcileJob from '../../jobs/reconcile.ts';
import type { App } from '../app/app.ts';
import { amountText, counted, grouped } from '../domain/counted.ts';
import { batchCounts } from '../ledger/batches.ts';
import type { CheckProgress } from '../sending/precheck.ts';

const checkLineMs = 30_000;

/** Logs each batch that was taken in, with its rows and totals. */
export async function logBatches({ ledger, log }: App, batches: string[]): Promise<void> {
  if (batches.length === 0) return;
  for (const { batch, state, totals } of await batchCounts(ledger.db, batches)) {
    const rows = Number(batch.row_count);
    const amounts = Object.entries(totals).map(([currency, amount]) => amountText(currency, amount));
    log.info(
      { batch: batch.id, rows, totals, state },
      `${batch.id} taken in: ${counted(rows, 'payout')}, ${amounts.join(', ')}${state === 'held' ? ', held' : ''}`,
    );
  }
}

/** Returns what logs now and then how far the questions before payment are. */
export function logCheck({ log, clock }: Pick<App, 'log' | 'clock'>): (progress: CheckProgress) => void {
  let saidAt = clock.monotonic();
  return ({ batch, known, count }) => {
    if (clock.monotonic() - saidAt < checkLineMs) return;
    saidAt = clock.monotonic();
    log.info(
      { batch, known, count },
      `${batch}: the account names of ${grouped(String(known))} of ${counted(count, 'payout')} are known`,
    );
  };
}

/** Logs how many payouts went out, and how the service answered; nothing for none. */
export function logSent({ log }: Pick<App, 'log'>, counts: Readonly<Record<string, number>>): void {
  const sent = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (sent === 0) return;
  const parts = Object.entries(counts).flatMap(([outcome, n]) =>
    n === 0 ? [] : [`${n} ${outcome.replaceAll('_', ' ')}`],
  );
  log.info({ counts }, `sent ${counted(sent, 'payout')}: ${parts.join(', ')}`);
}

/** Logs a reconciliation: its verdicts, and how much is open. */
export function logRun({ log }: Pick<App, 'log'>, run: reconcileJob.ReconcileResult): void {
  const verdicts = Object.entries(run.statement).map(
    ([currency, { verdict }]) => `${currency} ${verdict.replaceAll('_', ' ')}`,
  );
  const open = Object.values(run.discrepancies.open).reduce((sum, count) => sum + count, 0);
  const words = verdicts.length > 0 ? verdicts.join(', ') : run.verdict.replaceAll('_', ' ');
  log.info(
    { run: run.run, verdict: run.verdict, listed: run.listed, open },
    `reconciliation ${run.run}: ${words}; ${counted(run.listed, 'transfer')} read, ${open} open`,
  );
}
