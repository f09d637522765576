import type { BatchState, PayoutState } from '../../../core/domain/payout.ts';
import { readReasons } from '../../../core/ledger/hold-reasons.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { BatchLook } from './batches.sql.ts';
import type { View } from './frame.ts';
import { amount, countText, time, to } from './parts.ts';

/** States that a payout does not leave by itself. */
const ended: readonly PayoutState[] = ['success', 'failed', 'refused', 'cancelled', 'returned'];
export const open: readonly PayoutState[] = ['held', 'ready', 'sending', 'pending', 'unknown'];

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

export function moneyIn({ sums }: BatchLook, states: readonly PayoutState[]): Html {
  const parts = [...sums].flatMap(([currency, byState]) => {
    const minor = states.reduce((sum, state) => sum + (byState[state]?.minor ?? 0n), 0n);
    return minor === 0n ? [] : [html`<div>${amount(currency, minor)}</div>`];
  });
  return parts.length > 0 ? html`${parts}` : html`–`;
}

export function progressBar({ batch, counts }: BatchLook): Html {
  const sum = (states: readonly PayoutState[]): number =>
    states.reduce((n, one) => n + (counts[one] ?? 0), 0);
  const done = sum(ended);
  const of = Math.max(done + sum(open), Number(batch.row_count));
  return html`<progress value="${done}" max="${Math.max(of, 1)}" aria-label="Ended in ${batch.id}"></progress> ${countText(done)} of ${countText(of)} ended`;
}

export function batchTable(caption: string, looks: readonly BatchLook[], view: View): Html {
  return wideTable(
    caption,
    ['Batch', 'State', 'Progress', { number: 'Paid' }, { number: 'Open' }, 'Taken in'],
    looks.map((look) => [
      to(['batches', look.batch.id], look.batch.id),
      batchStateText(look),
      progressBar(look),
      moneyIn(look, ['success']),
      moneyIn(look, open),
      time(look.batch.created_at, view),
    ]),
  );
}
