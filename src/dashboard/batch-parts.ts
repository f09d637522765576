import type { BatchState, PayoutState } from '../domain/payout.ts';
import { readReasons } from '../ledger/hold-reasons.ts';
import type { BatchLook } from './batches.sql.ts';
import type { View } from './frame.ts';
import { type Html, html } from './html.ts';
import { amount, number, table, time, to } from './parts.ts';

/** States that a payout does not leave by itself. */
const ended: readonly PayoutState[] = ['success', 'failed', 'refused', 'cancelled', 'returned'];
const open: readonly PayoutState[] = ['held', 'ready', 'sending', 'pending', 'unknown'];

/** How many payouts have ended, and of how many. */
function progressOf({ batch, counts }: BatchLook): { done: number; of: number } {
  const sum = (states: readonly PayoutState[]): number =>
    states.reduce((n, one) => n + (counts[one] ?? 0), 0);
  const done = sum(ended);
  return { done, of: Math.max(done + sum(open), Number(batch.row_count)) };
}

const stateNames: Record<BatchState, string> = {
  loading: 'is being taken in',
  held: 'held',
  ready: 'waits to be sent',
  sending: 'is being sent',
  sent: 'sent, not all settled',
  done: 'done',
  cancelled: 'cancelled',
};

export function batchStateText({ state, batch }: BatchLook): string {
  const waits = state === 'held' && readReasons(batch.hold_reasons).some(({ kind }) => kind === 'approval');
  return waits ? 'waits for approval' : stateNames[state];
}

/** The sum of some states, per currency. */
export function moneyIn({ sums }: BatchLook, states: readonly PayoutState[]): Html {
  const parts = [...sums].flatMap(([currency, byState]) => {
    const minor = states.reduce((sum, state) => sum + (byState[state]?.minor ?? 0n), 0n);
    return minor === 0n ? [] : [html`<div>${amount(currency, minor)}</div>`];
  });
  return parts.length > 0 ? html`${parts}` : html`–`;
}

export function progressBar(look: BatchLook): Html {
  const { done, of } = progressOf(look);
  return html`<progress value="${done}" max="${Math.max(of, 1)}" aria-label="Ended in ${look.batch.id}"></progress> ${number(done)} of ${number(of)} ended`;
}

/** Batches with their progress and money. */
export function batchTable(caption: string, looks: readonly BatchLook[], view: View): Html {
  return table(
    caption,
    [
      { name: 'Batch' },
      { name: 'State' },
      { name: 'Progress' },
      { name: 'Paid', number: true },
      { name: 'Open', number: true },
      { name: 'Taken in' },
    ],
    looks.map((look) => [
      to(['batches', look.batch.id], look.batch.id),
      html`${batchStateText(look)}`,
      progressBar(look),
      moneyIn(look, ['success']),
      moneyIn(look, open),
      time(look.batch.created_at, view),
    ]),
  );
}
