import { money } from '../../../books/presentation.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { dayOrInstant } from '../../../core/domain/local-day.ts';
import { countedStates, type PayoutState, payoutStates } from '../../../core/domain/payout.ts';
import {
  type ListedPayout,
  namesSearched,
  type PayoutFilter,
  type PayoutSums,
} from '../../../core/ledger/payout-list.ts';
import { saidOf } from '../../../words/plain-words.ts';
import { stateWords } from '../../../words/state-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import { countText, exactAmount, panel, payeeCell, sentence, stateBadge, time, to } from './parts.ts';

/**
 * What a person may narrow the list to; each is a field of the form and a part of the address. `again`: `no` leaves out
 * what is ordered again.
 */
const fields = ['q', 'state', 'batch', 'currency', 'bank', 'since', 'until', 'amount', 'again'] as const;
export type PayoutQuery = Partial<Record<(typeof fields)[number], string>>;

export function payoutQueryIn(given: (name: string) => string | undefined): PayoutQuery {
  const found = fields.flatMap((name) => {
    const text = given(name)?.trim() ?? '';
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(found);
}

/** The filter of the ledger; null where a day is none. The last day counts as a whole. */
export function payoutFilterOf(query: PayoutQuery, zone: string): PayoutFilter | null {
  const { q, state, batch, currency, bank, since, until, amount, again } = query;
  const from = since === undefined ? undefined : dayOrInstant(since, zone);
  const through = until === undefined ? undefined : dayOrInstant(dayAfter(until), zone);
  if (from === null || through === null) return null;
  const known = payoutStates.find((one) => one === state);
  if (state !== undefined && known === undefined) return null;
  return {
    ...{ search: q, state: known, batch, currency: currency?.toUpperCase(), bank },
    ...{ since: from, until: through, amount: amount?.replaceAll(',', '') },
    ...(again === 'no' && { notPaidAgain: true }),
  };
}

function dayAfter(day: string): string {
  const next = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(next.getTime())) return day;
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}

/** The address of the list with these parts. */
function address(query: PayoutQuery, more: Record<string, string> = {}): string {
  const text = new URLSearchParams({ ...query, ...more }).toString();
  return text === '' ? '/payouts' : `/payouts?${text}`;
}

type Found = {
  query: PayoutQuery;
  rows: readonly ListedPayout[];
  /** Null on a later page; `over`: more than so many match. */
  sums: PayoutSums | { over: number } | null;
  /** The cursor of the next page. */
  next: string | null;
};

/** All payouts that match, the newest first, with a form that narrows them. */
export function payoutsView({ query, rows, sums, next }: Found, view: View): Html {
  const isSummed = Array.isArray(sums);
  const many = isSummed ? sums.reduce((total, { count }) => total + count, 0) : rows.length;
  const isOver = sums !== null && !isSummed;
  const shown = isOver ? `More than ${counted(sums.over, 'payout')}` : counted(many, 'payout');
  const searched =
    query.q !== undefined &&
    html`<p class="soft">References, accounts, transfer ids and trx are searched everywhere, names in the newest ${grouped(`${namesSearched}`)} payouts.</p>`;
  const { again, ...others } = query;
  const only =
    again === 'no' &&
    html`<p>Only payouts that are not ordered again. <a href="${address(others)}">Those too</a></p>`;
  const csv = html`<a href="${address(query, { format: 'csv' })}">CSV of all that match</a>`;
  return html`<h1>Payouts</h1>
${filterForm(query)}
${searched}
${only}
${isSummed && sums.length > 0 && panel('In all', totalsTable(sums))}
${isOver && html`<p class="soft">Narrow the list to see its totals, or open the CSV.</p>`}
${panel(
  shown,
  rows.length > 0
    ? html`${rowsTable(rows, view)}<p>${csv}</p>`
    : html`<p>No payout matches. <a href="/payouts">Show all</a>. A file that waits or was refused is among the <a href="/files">Files</a>.</p>`,
)}
${next !== null && html`<nav aria-label="Pages"><ul><li><a href="${address(query, { after: next })}">Older</a></li></ul></nav>`}`;
}

function filterForm(query: PayoutQuery): Html {
  const text = (name: keyof PayoutQuery, label: string, more = html``): Html =>
    html`<label>${label}<input name="${name}" value="${query[name] ?? ''}"${more}></label>`;
  const states = (['', ...payoutStates] as const).map(
    (state: PayoutState | '') =>
      html`<option value="${state}"${(query.state ?? '') === state && html` selected`}>${state === '' ? 'all' : stateWords[state]}</option>`,
  );
  return html`<form class="filters" action="/payouts" method="get" aria-label="Narrow the list">
${text('q', 'Name, account, reference, transfer id, trx', html` size="36"`)}
<label>State<select name="state">${states}</select></label>
${text('batch', 'Batch, or a part of it')}
${text('currency', 'Currency', html` size="4" maxlength="3"`)}
${text('bank', 'Bank', html` size="6"`)}
${text('since', 'From', html` type="date"`)}
${text('until', 'To', html` type="date"`)}
${text('amount', 'Amount', html` size="10" inputmode="decimal"`)}
${query.again !== undefined && html`<input type="hidden" name="again" value="${query.again}">`}
<button class="go">Show</button> <a href="/payouts">Clear</a>
</form>`;
}

function totalsTable(sums: PayoutSums): Html {
  const inOrder = sums.toSorted(
    (a, b) =>
      a.currency.localeCompare(b.currency) || countedStates.indexOf(a.state) - countedStates.indexOf(b.state),
  );
  const rows = inOrder.map(({ currency, state, count, minor }) => [
    currency,
    stateBadge(state),
    countText(count),
    grouped(money(minor, currency)),
  ]);
  return wideTable('Totals', ['Currency', 'State', { number: 'Payouts' }, { number: 'Amount' }], rows);
}

function rowsTable(rows: readonly ListedPayout[], view: View): Html {
  const cells = rows.map((one) => [
    to(['payouts', one.reference], one.reference),
    payeeCell(one, view),
    exactAmount(one.currency, one.amount),
    stateBadge(one.state),
    sentence(saidOf(one.state, one.message ?? ''), view),
    html`${to(['batches', one.batch_id], one.batch_id)}<br><small class="soft">${time(one.taken_in_at, view)}</small>`,
  ]);
  const columns = ['Reference', 'Payee', { number: 'Amount' }, 'State', 'What the service says', 'Batch'];
  return wideTable('Payouts', columns, cells);
}
