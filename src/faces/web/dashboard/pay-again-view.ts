import { counted } from '../../../core/domain/counted.ts';
import type { Decided } from '../../../sending/decisions/retry-payout.ts';
import type { Weighed, WeighedCase } from '../../../watching/evidence/weigh.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { newsOf } from '../../../words/plain-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { stateWords } from '../../../words/state-words.ts';
import { hider } from '../../json/hide.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { form } from './forms.ts';
import { accountText, seesBank, type View } from './frame.ts';
import { amount, exactAmount, panel, sentence, stateBadge, to } from './parts.ts';

/** What is unpaid of a batch, each with its evidence, and one decision about all (P20). */
export function payAgainView(
  batch: string,
  { shown, left, later }: { shown: Weighed; left: number; later: ReadonlyMap<bigint, string> },
  view: View,
): Html {
  const { cases, digest } = shown;
  const payable = cases.filter(({ judgement }) => judgement.kind !== 'no');
  const rows = cases.map((one) => [
    to(['payouts', one.payout.reference], one.payout.reference),
    seesBank(view) ? one.payout.account_name : 'hidden',
    accountCell(one, later, view),
    exactAmount(one.payout.currency, one.payout.amount),
    stateBadge(one.payout.state),
    sentence((seesBank(view) ? String : hider(one.payout))(newsOf(one.payout, one.attempts)), view),
    one.payout.evidence.replaceAll('+', ', '),
    one.judgement.kind === 'no' ? html`<b>no</b>: ${sentence(reasonText(one.judgement), view)}` : 'yes',
  ]);
  const columns = [
    'Reference',
    'Payee',
    'Account',
    { number: 'Amount' },
    'State',
    'What the service says',
    'Proof',
    'May be paid again',
  ];
  const decide = form(view, {
    action: `/batches/${encodeURIComponent(batch)}/again`,
    fields: [
      { kind: 'hidden', name: 'references', value: cases.map(({ payout }) => payout.reference).join(' ') },
      { kind: 'hidden', name: 'evidence', value: digest },
      { kind: 'sure', label: `I have read what is known, and these ${payable.length} should be paid again` },
    ],
    buttons: [{ name: `Pay ${payable.length} again` }],
  });
  return html`<h1>Pay again: ${batch}</h1>
${left > 0 && html`<p class="warn">These are the first ${cases.length}. ${counted(left, 'more', 'more')} come after them.</p>`}
${payable.length > 0 ? panel('Decide', html`<p>${totalsOf(payable)} under new references, to the same accounts. Evidence <code>${digest}</code></p>${decide}`) : html`<p>None of it can be paid again now.</p>`}
${cases.length > 0 && panel('What is known, asked just now', wideTable('Unpaid', columns, rows))}
<p>${to(['batches', batch], 'Back to the batch')}</p>`;
}

/** The account that declined is used again: a later payment to another one says that it may be out of date. */
function accountCell({ payout }: WeighedCase, later: ReadonlyMap<bigint, string>, view: View): Html {
  const other = later.get(payout.id);
  const moved =
    other !== undefined &&
    html`<br><span class="warn">A later payment went to another account: ${to(['payouts', other], other)}</span>`;
  return html`${accountText(payout, view)}${moved}`;
}

function totalsOf(cases: readonly WeighedCase[]): string {
  const byCurrency = Map.groupBy(cases, ({ payout }) => payout.currency);
  const totals = [...byCurrency].map(([currency, some]) =>
    amount(
      currency,
      some.reduce((sum, { payout }) => sum + payout.amount, 0n),
    ),
  );
  return totals.join(', ');
}

/** What became of them: each under its new reference, and what still holds them. */
export function paidAgainWords(decided: readonly Decided[]): {
  title: string;
  lines: string[];
  undone?: true;
} {
  if (decided.length === 0) return { title: 'Nothing is ordered again', lines: [], undone: true };
  const byState = [...Map.groupBy(decided, ({ state }) => state)];
  const lines = [
    byState.map(([state, some]) => `${some.length} ${stateWords[state]}`).join(', '),
    decided
      .map(({ reference, predecessor }) => (predecessor ? `${predecessor} as ${reference}` : reference))
      .join(', '),
  ];
  const held = decided.filter(({ state }) => state === 'held').length;
  const title = `${counted(decided.length, 'payout')} ${decided.length === 1 ? 'is' : 'are'} ordered again`;
  if (held === 0) return { title, lines };
  const waits = counted(held, 'payout to be paid again', 'payouts to be paid again');
  return {
    title: `${upperFirst(waits)} ${held === 1 ? 'waits' : 'wait'}`,
    lines: [
      ...lines,
      'Nothing goes out before its batch is approved or released: the page of the batch says why.',
    ],
    undone: true,
  };
}
