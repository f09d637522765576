import { payoutStates } from '../../src/core/domain/payout.ts';
import { stateWords } from '../../src/words/state-words.ts';
import type { Signals } from './signals.ts';
import { samplesIn } from './signals.ts';

/** One figure as each view shows it; null where a view does not show it. */
export type Figure = { name: string; status: number; metrics: number; dashboard: number | null };

/** The parts of `status --json` that are compared. */
export type Status = {
  halted: unknown;
  payouts: Record<string, number>;
  totals: Record<string, Record<string, string>>;
  discrepancies: Record<string, number>;
  batches: { state: string }[];
  last_run: { verdict: string } | null;
  webhooks: { received: number; applied: number; rejected: number; oldest_unapplied_seconds: number | null };
};

/** Every figure that `status --json`, `/metrics` and the first page of the dashboard share. */
export function figuresIn(status: Status, { metrics, dashboard }: Signals): Figure[] {
  const samples = [...(metrics ?? samplesIn(''))];
  const sum = (pattern: RegExp): number =>
    samples.reduce((total, [name, value]) => (pattern.test(name) ? total + value : total), 0);
  const money = moneyIn(dashboard ?? '');
  return [
    ...payoutStates.map((state) => ({
      name: `payouts ${state}`,
      status: status.payouts[state] ?? 0,
      metrics: sum(new RegExp(`^counterfoil_payouts\\{.*state="${state}"`)),
      dashboard: money.get(stateWords[state])?.count ?? 0,
    })),
    ...payoutStates.map((state) => ({
      name: `NGN ${state}`,
      status: Number(status.totals.NGN?.[state] ?? 0),
      metrics: sum(new RegExp(`^counterfoil_payouts_amount\\{currency="NGN",state="${state}"`)),
      dashboard: money.get(stateWords[state])?.amount ?? 0,
    })),
    ...['held', 'ready', 'sending', 'sent', 'done', 'cancelled'].map((state) => ({
      name: `batches ${state}`,
      status: status.batches.filter((batch) => batch.state === state).length,
      metrics: sum(new RegExp(`^counterfoil_batches\\{state="${state}"`)),
      dashboard: null,
    })),
    ...Object.entries(status.discrepancies).map(([kind, count]) => ({
      name: `discrepancies ${kind}`,
      status: count,
      metrics: sum(new RegExp(`^counterfoil_discrepancies\\{kind="${kind}"`)),
      dashboard: null,
    })),
    plain('halted', status.halted === null ? 0 : 1, Math.min(1, sum(/^counterfoil_halted/))),
    plain(
      `verdict ${status.last_run?.verdict}`,
      status.last_run === null ? 0 : 1,
      sum(
        new RegExp(
          `^counterfoil_reconciliation_verdict\\{currency="all",verdict="${status.last_run?.verdict}"`,
        ),
      ),
    ),
    plain('webhooks received', status.webhooks.received, sum(/^counterfoil_webhooks_received_total/)),
    plain('webhooks applied', status.webhooks.applied, sum(/^counterfoil_webhooks_applied_total/)),
    plain('webhooks rejected', status.webhooks.rejected, sum(/^counterfoil_webhooks_rejected_total/)),
    plain(
      'a webhook waits',
      status.webhooks.oldest_unapplied_seconds === null ? 0 : 1,
      Math.min(1, sum(/_webhooks_unapplied/)),
    ),
  ];
}

function plain(name: string, status: number, metrics: number): Figure {
  return { name, status, metrics, dashboard: null };
}

/** Those that two views show differently. */
export function differing(figures: readonly Figure[]): Figure[] {
  return figures.filter(
    ({ status, metrics, dashboard }) => status !== metrics || (dashboard !== null && dashboard !== status),
  );
}

/** The rows of the table "Money by state", by state. */
function moneyIn(page: string): Map<string, { count: number; amount: number }> {
  const table = /State Payouts NGN (.*?) (?:✓ Everything runs|Machinery)/.exec(page)?.[1] ?? '';
  const rows = table.matchAll(/([a-z]+) ([\d,]+) (?:NGN )?([\d,]+\.\d\d)/g);
  const read = (text = ''): number => Number(text.replaceAll(',', ''));
  return new Map(
    [...rows].map(([, state = '', count, amount]) => [state, { count: read(count), amount: read(amount) }]),
  );
}
