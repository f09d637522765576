import { discrepancyMark } from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { maskTold } from '../../../books/presentation.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { DiscrepancyKind } from '../../../core/domain/discrepancy-kinds.ts';
import { discrepancyStates } from '../../../core/domain/discrepancy-life.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { hasRight } from '../../admin/access.ts';
import { type Html, html } from '../kit/html.ts';
import { separated } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import type { DiscrepancySums } from './discrepancies.sql.ts';
import { form } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import { type PartOfList, pages } from './pages.ts';
import { ago, amount, countText, note, panel, sentence, severity, time, to } from './parts.ts';
import { addressOf } from './query.ts';

/**
 * What a person may narrow the list to. `days`: found so long ago, or longer. Without a state, all that is not
 * resolved.
 */
export const discrepancyFields = ['kind', 'batch', 'currency', 'days', 'state'] as const;
type DiscrepancyQuery = Partial<Record<(typeof discrepancyFields)[number], string>>;

/** One decision is about so many at most: nobody reads more, and a form holds no more. */
export const mostPicked = 500;

type Found = {
  list: readonly Discrepancy[];
  /** How many of each kind are open or acknowledged, whatever kind is shown alone. */
  kinds: readonly (readonly [kind: DiscrepancyKind, count: number])[];
  query: DiscrepancyQuery;
  sums: DiscrepancySums;
  page: PartOfList;
  /** Whether a list was ever compared: without one nothing may say "none". */
  isChecked: boolean;
};

/**
 * What is open, the gravest and oldest first, each with what to do and a way to say that it is done. Or what is
 * resolved.
 */
export function discrepanciesView({ list, kinds, query, sums, page, isChecked }: Found, view: View): Html {
  const { kind: only, ...others } = query;
  const total = sums.reduce((sum, { count }) => sum + count, 0);
  const link = (kind: DiscrepancyKind | undefined, name: string): Html =>
    html`<li><a href="${addressOf('/discrepancies', { ...others, ...(kind !== undefined && { kind }) })}"${kind === only && html` aria-current="page"`}>${name}</a></li>`;
  const links = kinds.map(([kind, count]) => link(kind, `${plainKind(kind)} (${count})`));
  const { state, ...narrowed } = query;
  const known = discrepancyStates.find((one) => one === state);
  const isResolved = known === 'resolved';
  const isNarrowed = Object.keys(narrowed).length > 0;
  const none = isChecked
    ? html`<p>No ${isNarrowed ? 'such ' : ''}discrepancy is ${known ?? 'open'}.</p>`
    : html`<p><strong>Not checked:</strong> no usable list of the service was compared. None is known.</p>`;
  const mayDecide = hasRight(view.caller, 'decide') && list.length > 0 && !isResolved;
  const states = [undefined, ...discrepancyStates].map((one) => {
    const name = one ?? 'not resolved';
    const address = addressOf('/discrepancies', { ...narrowed, ...(one !== undefined && { state: one }) });
    return html`<li><a href="${address}"${one === known && html` aria-current="page"`}>${name}</a></li>`;
  });
  return html`<h1>${isResolved ? 'Resolved discrepancies' : 'Discrepancies'}</h1>
<nav class="narrow" aria-label="States"><ul>${states}</ul></nav>
<nav class="narrow" aria-label="Kinds"><ul>${link(undefined, 'all')}${links}</ul></nav>
${filterForm(query)}
${sums.length > 0 && panel(counted(total, 'discrepancy', 'discrepancies'), sumsTable(sums))}
${list.length === 0 ? none : html`<ol class="cards">${list.map((one) => html`<li>${card(one, view)}</li>`)}</ol>`}
${mayDecide && panel('Decide about those that are ticked', html`${pickForm(view)}${total > 1 && html`<p><a href="${addressOf('/discrepancies/all', query)}">Decide about all ${countText(total)}…</a></p>`}`)}
${pages('/discrepancies', page, query)}`;
}

function filterForm(query: DiscrepancyQuery): Html {
  const { kind, state, batch = '', currency = '', days = '' } = query;
  return html`<form class="filters" action="/discrepancies" method="get" aria-label="Narrow the list">
${kind !== undefined && html`<input type="hidden" name="kind" value="${kind}">`}
${state !== undefined && html`<input type="hidden" name="state" value="${state}">`}
<label>Batch, or a part of it<input name="batch" value="${batch}"></label>
<label>Currency<input name="currency" value="${currency}" size="4" maxlength="3"></label>
<label>Found, days ago or more<input name="days" value="${days}" size="5" inputmode="numeric"></label>
<button>Show</button> <a href="/discrepancies">Clear</a>
</form>`;
}

function sumsTable(sums: DiscrepancySums): Html {
  const rows = sums.map(({ currency, count, payouts, minor }) => [
    currency || '–',
    countText(count),
    countText(payouts),
    payouts === 0 ? '–' : amount(currency, minor),
  ]);
  const columns = [
    'Currency',
    { number: 'Discrepancies' },
    { number: 'Payouts' },
    { number: 'Their amount' },
  ];
  return wideTable('In all', columns, rows);
}

/** All that a filter finds, ticked: what is ticked when the form is sent is decided, whatever the list says by then. */
export function pickAllView(
  { list, total, query }: { list: readonly Discrepancy[]; total: number; query: DiscrepancyQuery },
  view: View,
): Html {
  const more = total - list.length;
  const rows = list.map((one) => [
    html`<label>${pick(one, true)}${plainKind(one.kind)}</label>`,
    severity(one.severity),
    { content: one.reference || one.subject, look: 'payee' },
    said(one, view),
    one.currency,
    time(one.first_seen_at, view),
  ]);
  const columns = ['Kind', 'Severity', 'About', 'What', 'Currency', 'Found'];
  return html`<h1>Decide about ${counted(list.length, 'discrepancy', 'discrepancies')}</h1>
${more > 0 && html`<p class="warn">These are the gravest and oldest. ${counted(more, 'more', 'more')} come after them.</p>`}
${list.length > 0 && panel('One note for all that are ticked', pickForm(view))}
${list.length > 0 ? panel('What you decide about', wideTable('What you decide about', columns, rows)) : html`<p>Nothing is open.</p>`}
<p><a href="${addressOf('/discrepancies', query)}">Back to the list</a></p>`;
}

/** The box of one in the form for many. Its value has what the person sees of it. */
function pick(one: Discrepancy, isTicked = false): Html {
  return html`<input type="checkbox" form="picked" name="pick" value="${one.id}.${discrepancyMark(one)}"${isTicked && html` checked`} aria-label="Tick ${one.id}">`;
}

function pickForm(view: View): Html {
  return form(view, {
    id: 'picked',
    action: '/discrepancies/acknowledge',
    fields: [
      {
        kind: 'note',
        id: 'picked-note',
        label: 'One note for all (a resolution needs one)',
        required: false,
      },
    ],
    buttons: [
      { name: 'Acknowledge those ticked' },
      { name: 'Resolve those ticked', to: '/discrepancies/resolve' },
    ],
  });
}

function said(one: Discrepancy, view: View): string {
  const difference = one.difference === '' ? '' : `; difference ${one.difference} ${one.currency}`;
  return openText(`expected ${one.expected || '–'}; found ${one.actual || '–'}${difference}`, view);
}

function noteText(one: Discrepancy, view: View): string {
  return note(seesBank(view) ? one.note : maskTold(one.note), view);
}

/** A text of the ledger, without bank details for a reader who may not see them. */
function openText(text: string, view: View): string {
  return sentence(seesBank(view) ? text : maskTold(text), view);
}

function card(one: Discrepancy, view: View): Html {
  const say = (text: string): string => openText(text, view);
  const isResolved = one.state === 'resolved';
  const about =
    one.payout_id === null
      ? html`${one.reference || one.subject}`
      : to(['payouts', one.reference], one.reference);
  const marks = [
    html`Found ${time(one.first_seen_at, view)}, ${ago(one.first_seen_at, view)} ago`,
    ...(one.batch_id === null ? [] : [to(['batches', one.batch_id], one.batch_id)]),
    ...(one.state === 'open'
      ? []
      : [isResolved ? `resolved by ${one.resolved_by === 'person' ? 'a person' : 'evidence'}` : one.state]),
    ...(one.note === '' ? [] : [`Note: ${noteText(one, view)}`]),
  ];
  return html`<article class="card is-${one.severity}" id="${one.id}"><h2>${hasRight(view.caller, 'decide') && !isResolved && pick(one)}${severity(one.severity)} ${plainKind(one.kind)}: ${about}</h2>
${!isResolved && html`<p>${say(actionFor(one))}</p>`}
<p class="soft">${upperFirst(said(one, view))}<br>${separated(marks, ' · ')}</p>
${!isResolved && decidePart(one, view)}</article>`;
}

function decidePart(one: Discrepancy, view: View): Html {
  return html`<details id="decide-${one.id}"><summary aria-label="Decide about ${one.id}">Decide…</summary>${form(
    view,
    {
      action: '/discrepancies/acknowledge',
      fields: [
        { kind: 'hidden', name: 'id', value: one.id },
        { kind: 'hidden', name: 'shown', value: discrepancyMark(one) },
        {
          kind: 'note',
          id: `note-${one.id}`,
          label: 'Note: what is known, or what was done (a resolution needs one)',
          required: false,
        },
      ],
      buttons: [
        ...(one.state === 'open' ? [{ name: 'Acknowledge' }] : []),
        { name: 'Resolve', to: '/discrepancies/resolve' },
      ],
    },
  )}</details>`;
}
