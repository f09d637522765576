import { cameToNothing, type PayoutState, payoutStates } from '../../../core/domain/payout.ts';
import { isAmong, type Maker } from '../../../sending/approval.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { personOf } from './actions.ts';
import { type BatchLook, standOf } from './batches.sql.ts';
import type { View } from './frame.ts';
import { amount, countText, panel, time, to } from './parts.ts';
import { addressOf } from './query.ts';

/** Each payout of the file once: one that is paid again counts as its successor stands. */
const counted = payoutStates;
/** States that a payout does not leave by itself. */
const ended: readonly PayoutState[] = ['success', 'failed', 'refused', 'cancelled', 'returned'];
export const open: readonly PayoutState[] = ['held', 'ready', 'sending', 'pending', 'unknown'];

/** How a batch can stand, in the order in which a person cares. */
export const stands = [
  'approval',
  'held',
  'loading',
  'ready',
  'sending',
  'sent',
  'done',
  'cancelled',
] as const;

export const standNames: Record<ReturnType<typeof standOf>, string> = {
  approval: 'waits for approval',
  held: 'held',
  loading: 'is being taken in',
  ready: 'waits to be sent',
  sending: 'is being sent',
  sent: 'sent, not all settled',
  done: 'done',
  cancelled: 'cancelled',
};

export function standNamed(text: string | undefined): (typeof stands)[number] | null {
  return stands.find((one) => one === text) ?? null;
}

export function batchStateText(look: BatchLook): string {
  return standNames[standOf(look)];
}

/** How many payouts failed and are not paid again. */
export function unpaidIn({ counts }: BatchLook): number {
  return cameToNothing.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** Whether the holder of this name is one of the makers, and so may not approve what they made (P37). */
export function isMaker(makers: readonly Maker[]): (name: string) => boolean {
  return (name) => makers.some((one) => isAmong(one, personOf(name).accounts));
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
  return html`<progress value="${done}" max="${Math.max(of, 1)}" aria-label="Ended in ${batch.id}"></progress> <span class="ended">${countText(done)} of ${countText(of)} ended</span>`;
}

function stateCell(look: BatchLook): Html {
  const unpaid = unpaidIn(look);
  return html`${batchStateText(look)}${unpaid > 0 && html`<br><span class="bad">${countText(unpaid)} unpaid</span>`}`;
}

/** `short`: without what the first page says anyway. */
export function batchTable(
  caption: string,
  looks: readonly BatchLook[],
  view: View,
  { short = false } = {},
): Html {
  const total = { number: 'Total' };
  const rest = [{ number: 'Paid' }, { number: 'Open' }];
  return wideTable(
    caption,
    ['Batch', 'State', { act: 'Progress' }, ...(short ? rest : [total, ...rest, 'Taken in'])],
    looks.map((look) => [
      to(['batches', look.batch.id], look.batch.id),
      short ? batchStateText(look) : stateCell(look),
      progressBar(look),
      ...(short ? [] : [moneyIn(look, counted)]),
      moneyIn(look, ['success']),
      moneyIn(look, open),
      ...(short ? [] : [time(look.batch.created_at, view)]),
    ]),
  );
}

/** The choice between the batches that a reader may mean by a part of a name, before the list is narrowed to one. */
export function whichBatchView(
  title: string,
  batches: readonly string[],
  { path, query }: { path: string; query: Record<string, string> },
): Html {
  const links = batches.map(
    (batch) => html`<li><a href="${addressOf(path, { ...query, batch })}">${batch}</a></li>`,
  );
  return html`<h1>${title}</h1>
${panel('Which batch?', html`<ul>${links}</ul>`)}`;
}
