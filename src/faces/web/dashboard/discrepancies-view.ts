import { discrepancyMark } from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { maskTold } from '../../../books/presentation.ts';
import { counted } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { type Html, html } from '../kit/html.ts';
import { form } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import { ago, facts, sentence, severity, time, to } from './parts.ts';

type Found = {
  list: readonly Discrepancy[];
  /** How many of each kind are open or acknowledged. */
  kinds: readonly (readonly [kind: string, count: number])[];
  /** The kind that is shown alone. */
  only: string | null;
  /** Whether a list was ever compared: without one nothing may say "none". */
  isChecked: boolean;
};

/** What is open, the gravest and oldest first, each with what to do and a way to say that it is done. */
export function discrepanciesView({ list, kinds, only, isChecked }: Found, view: View): Html {
  const total = kinds.filter(([kind]) => only === null || kind === only).reduce((sum, [, n]) => sum + n, 0);
  const more = total - list.length;
  const links = kinds.map(
    ([kind, count]) =>
      html`<li><a href="/discrepancies?kind=${kind}"${kind === only && html` aria-current="page"`}>${plainKind(kind)} (${count})</a></li>`,
  );
  const none = isChecked
    ? html`<p>No discrepancy is open.</p>`
    : html`<p><strong>Not checked:</strong> no usable list of the service was compared. None is known.</p>`;
  return html`<h1>Discrepancies${only !== null && `: ${plainKind(only)}`}</h1>
${kinds.length > 0 && html`<nav aria-label="Kinds"><ul><li><a href="/discrepancies"${only === null && html` aria-current="page"`}>All</a></li>${links}</ul></nav>`}
${list.length === 0 ? none : html`<ol class="cards">${list.map((one) => html`<li>${card(one, view)}</li>`)}</ol>`}
${more > 0 && html`<p>… and ${counted(more, 'more')}: choose a kind, or run counterfoil discrepancies --export FILE.xlsx for all.</p>`}`;
}

function card(one: Discrepancy, view: View): Html {
  const say = (text: string): string => sentence(seesBank(view) ? text : maskTold(text), view);
  const about =
    one.payout_id === null
      ? html`${one.reference || one.subject}`
      : to(['payouts', one.reference], one.reference);
  const difference = one.difference === '' ? '' : `; difference ${one.difference} ${one.currency}`;
  return html`<article class="card is-${one.severity}" id="${one.id}"><h2>${severity(one.severity)} ${plainKind(one.kind)}: ${about}</h2>
<p><strong>${say(actionFor(one))}</strong></p>
${facts([
  ['What', say(`expected ${one.expected || '–'}; found ${one.actual || '–'}${difference}`)],
  ['State', one.state],
  ['Since', html`${time(one.first_seen_at, view)} (${ago(one.first_seen_at, view)})`],
  ...(one.batch_id === null ? [] : [['Batch', to(['batches', one.batch_id], one.batch_id)] as const]),
  ...(one.note === '' ? [] : [['Note', say(one.note)] as const]),
])}
<details id="decide-${one.id}"><summary aria-label="Decide about ${one.id}">Decide…</summary>${form(view, {
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
  })}</details></article>`;
}
