import type * as reconcileJob from '../../jobs/reconcile.ts';
import type { App } from '../app/app.ts';
import type { BatchChange } from '../core/domain/batch-changes.ts';
import { amountText, counted, grouped } from '../core/domain/counted.ts';
import { batchCounts } from '../core/ledger/batches.ts';
import { errorText, logEvent } from '../core/runtime/log-events.ts';
import type { StandingCause } from '../sending/halts.sql.ts';
import type { CheckProgress } from '../sending/precheck.ts';
import type { SenderStop } from '../sending/send.ts';
import { verdictWords } from '../words/verdict-words.ts';

const checkLineMs = 30_000;

type Log = Pick<App, 'log'>;

/** Logs what happened to a batch; `counts`: its payouts by state. */
export async function logBatch(
  { ledger, log }: Pick<App, 'ledger' | 'log'>,
  event: `batch_${BatchChange}`,
  { batch, counts }: { batch: string; counts: Readonly<Record<string, number>> },
): Promise<void> {
  switch (event) {
    case 'batch_taken': {
      const [row] = await batchCounts(ledger.db, [batch]);
      const rows = Number(row?.batch.row_count ?? 0);
      const totals = row?.totals ?? {};
      const amounts = Object.entries(totals).map(([currency, amount]) => amountText(currency, amount));
      const text = `${batch} taken in: ${counted(rows, 'payout')}, ${amounts.join(', ')}`;
      return logEvent(log, event, { batch, rows, totals, text });
    }
    case 'batch_sent':
    case 'batch_done': {
      const text = `${batch} ${event === 'batch_sent' ? 'sent' : 'done'}: ${countsText(counts)}`;
      return logEvent(log, event, { batch, counts, text });
    }
    default:
      return logEvent(log, event, { batch, text: `${batch} ${event.replace('batch_', '')}` });
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

export function logHalt({ log }: Log, event: 'halt_raised' | 'halt_lifted', cause: StandingCause): void {
  const what = cause.kind.replaceAll('_', ' ');
  const where = cause.reference ?? cause.batch;
  const text = event === 'halt_raised' ? 'Nothing is sent: sending is halted' : 'A halt is lifted';
  logEvent(log, event, {
    cause: cause.kind,
    batch: cause.batch,
    reference: cause.reference,
    text: `${text} (${what}${where === null ? '' : `, ${where}`})`,
  });
}

/** Logs how many payouts went out, and how each attempt ended; nothing for no attempt. */
export function logSent({ log }: Log, counts: SenderStop['counts']): void {
  if (Object.values(counts).every((count) => count === 0)) return;
  // The others are ready again, and count once they go.
  const sent = counts.accepted + counts.refused + counts.unknown;
  logEvent(log, 'payouts_sent', { counts, text: `sent ${counted(sent, 'payout')}: ${countsText(counts)}` });
}

/** Logs a reconciliation: its verdicts, and how much is open. */
export function logRun({ log }: Log, run: reconcileJob.ReconcileResult): void {
  const verdicts = Object.entries(run.statement).map(
    ([currency, { verdict }]) => `${currency} ${verdictWords[verdict].name}`,
  );
  const open = Object.values(run.discrepancies.open).reduce((sum, count) => sum + count, 0);
  const words = verdicts.length > 0 ? verdicts.join(', ') : verdictWords[run.verdict].name;
  logEvent(log, 'run_finished', {
    run: run.run,
    verdict: run.verdict,
    listed: run.listed,
    open,
    error: run.error ?? null,
    text: `reconciliation ${run.run}: ${words}; ${counted(run.listed, 'transfer')} read, ${open} open`,
  });
}

export function logRunFailed({ log }: Log, job: string, error: unknown): void {
  const words = errorText(error);
  logEvent(log, 'run_failed', { job, error: words, text: `the reconciliation failed: ${words}` });
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .flatMap(([name, n]) => (n === 0 ? [] : [`${n} ${name.replaceAll('_', ' ')}`]))
    .join(', ');
}
