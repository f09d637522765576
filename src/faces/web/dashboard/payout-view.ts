import type { Story } from '../../../books/overview.sql.ts';
import { amountText } from '../../../core/domain/counted.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import { hasComeToNothing, type PayoutState } from '../../../core/domain/payout.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { isClosedByPerson } from '../../../core/domain/transition.ts';
import type { neighboursOf } from '../../../core/ledger/successors.ts';
import type { originOf } from '../../../sending/approvals.sql.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { payoutMoments } from '../../../words/payout-moments.ts';
import { newsOf } from '../../../words/plain-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { againWords, newFileText } from '../../../words/state-words.ts';
import { hasRight } from '../../admin/access.ts';
import { hider } from '../../json/hide.ts';
import { type Html, html } from '../kit/html.ts';
import { bankText, separated, whole } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { decision, form, whoMay } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import {
  dated,
  exactAmount,
  facts,
  panel,
  sentence,
  severity,
  stateBadge,
  stateText,
  time,
  to,
} from './parts.ts';

type Chain = Awaited<ReturnType<typeof neighboursOf>> & Awaited<ReturnType<typeof originOf>>;

/**
 * The whole story of one payout. `around`: those of the payments before and after it. Without the right to bank
 * details, account and name are hidden wherever they stand.
 */
export function payoutView(
  story: Story,
  { around, ...chain }: Chain & { around: readonly Story[] },
  view: View,
): Html {
  const isOpen = seesBank(view);
  const { payout, attempts } = story;
  const hide = isOpen ? (text: string) => text : hider(payout);
  const say = (text: string): string => sentence(hide(text), view);
  const message = say(newsOf(payout, attempts));
  return html`<h1>${payout.reference}</h1>
${panel(
  'What it is',
  facts([
    ['Amount', exactAmount(payout.currency, payout.amount)],
    [
      'State',
      html`${stateBadge(payout.state)}${payout.evidence === '' ? '' : ` (evidence: ${payout.evidence.replaceAll('+', ', ')})`}`,
    ],
    ...(message === '' ? [] : [['Message', message] as const]),
    ['From', payout.sender_name],
    ['To', isOpen ? payout.account_name : html`hidden. ${whoMay(view, 'read')}`],
    [
      'Account',
      `${isOpen ? payout.account_number : maskAccount(payout.account_number)} at bank ${bankText(payout.bank_code, view)}`,
    ],
    ...(isOpen ? [['Narration', payout.narration] as const] : []),
    ['Batch', html`${to(['batches', payout.batch_id], payout.batch_id)}, row ${payout.row_number}`],
    ...transferFacts(payout),
    ...(payout.pay_on === '' ? [] : [['Not sent before', payDayText(payout.pay_on)] as const]),
    ['Sent', dated(payout.submitted_at, view)],
    ...endFacts(payout, view),
    ...chainFacts(chain, view),
  ]),
)}
${decisions(story, chain, view)}
${transfersPart(story, around, view)}${panel('What happened', timeline(story, view, say))}
${panel('Discrepancies', discrepancies(story, say))}`;
}

/** What a person may decide about it now; each decision shows its evidence first. */
function decisions({ payout }: Story, { successor }: Chain, view: View): Html {
  const { state, reference } = payout;
  const path = `/payouts/${encodeURIComponent(reference)}`;
  const isUnpaid = successor === null && (hasComeToNothing(state) || state === 'unknown');
  const newFile = isUnpaid && isClosedByPerson(payout);
  const isOpen = state === 'unknown' || state === 'pending' || state === 'held';
  const links = [
    ...(isUnpaid && !newFile
      ? [html`<a class="${state === 'unknown' ? 'btn' : 'go'}" href="${path}/retry">Pay it again…</a>`]
      : []),
    ...(isOpen ? [html`<a href="${path}/settle">Settle by hand…</a>`] : []),
  ];
  const isUnsent = state === 'ready' || state === 'held';
  if (newFile) return panel('Decide', html`<p>${newFileText}</p>`, 'screen');
  const isTold = state === 'pending' || state === 'unknown' || state === 'success';
  if (links.length === 0 && !isUnsent && !isTold) return html``;
  if (!hasRight(view.caller, 'decide'))
    return panel('Decide', html`<p class="soft">${whoMay(view, 'decide')}</p>`, 'screen');
  return panel(
    'Decide',
    html`${state === 'held' && html`<p>It is held with its batch: ${to(['batches', payout.batch_id], 'why, and who lets it go')}.</p>`}
${links.length > 0 && html`<p>${separated(links, ' · ')}</p>`}
${isUnsent && decision(view, { id: 'cancel', name: 'Cancel', action: `${path}/cancel`, sure: 'It is not paid, and this cannot be undone' })}
${isTold && form(view, { action: `${path}/resend`, fields: [], buttons: [{ name: 'Ask for its webhook again', plain: true }] })}`,
    'screen',
  );
}

/** How the service calls it, and what it asks for it. */
function transferFacts({
  transfer_id: id,
  trx,
  fee,
  currency,
}: Story['payout']): (readonly [string, string])[] {
  if (id === null && trx === null && fee === null) return [];
  return [
    ['Transfer id', id ?? '–'],
    ['Reference (trx)', trx ?? '–'],
    ...(fee === null ? [] : [['Fee', amountText(currency, fee)] as const]),
  ];
}

/**
 * Every transfer that the service lists for it and for the payments before and after it, where they are more than its
 * own.
 */
function transfersPart({ payout, listings }: Story, around: readonly Story[], view: View): Html {
  const all = [...listings, ...around.flatMap((one) => one.listings)];
  // The row of the last run that listed each.
  const last = [...new Map(all.map((one) => [one.transfer_id, one])).values()];
  const own = payout.transfer_id ?? last[0]?.transfer_id;
  if (last.every(({ transfer_id: id }) => id === own)) return html``;
  const rows = last.map((one) => [
    whole(one.transfer_id),
    whole(one.trx ?? '–'),
    to(['payouts', one.reference], one.reference),
    one.status,
    amountText(one.currency, one.amount_text),
    dated(one.created_at, view),
  ]);
  const columns = ['Transfer id', 'Reference (trx)', 'Payout', 'State', { number: 'Amount' }, 'Made'];
  const title = 'Transfers that the service lists for it';
  return panel(title, wideTable(title, columns, rows));
}

/** When it ended, as the service says; when that became known stands in the story, with its proof. */
function endFacts({ state, settled_at: at }: Story['payout'], view: View): (readonly [string, Html])[] {
  if (at === null) return [];
  return [
    [state === 'success' || state === 'returned' ? 'Paid' : upperFirst(stateText(state)), dated(at, view)],
  ];
}

function chainFacts(chain: Chain, view: View): (readonly [string, Html | string])[] {
  const {
    predecessor,
    successor,
    successorState: state,
    dropped_by: dropper,
    approved_by: approver,
    approved_at: at,
  } = chain;
  return [
    ...(dropper ? [['Dropped by', dropper] as const] : []),
    ...(approver ? [['Approved by', html`${approver}, ${dated(at, view)}`] as const] : []),
    ...(predecessor ? [['Pays again', to(['payouts', predecessor], predecessor)] as const] : []),
    ...(successor && state ? [successorFact(successor, state)] : []),
  ];
}

function successorFact(reference: string, state: PayoutState): readonly [string, Html] {
  const page = to(['payouts', reference], reference);
  return [upperFirst(againWords(state)), state === 'success' ? page : html`${page} ${stateBadge(state)}`];
}

/** What happened, in order; what repeats itself, such as a daily look-up, is one line. */
function timeline(story: Story, view: View, say: (text: string) => string): Html {
  const groups = payoutMoments(story).reduce<{ text: string; at: string[] }[]>((all, { at, text }) => {
    const last = all.at(-1);
    if (last?.text === text) last.at.push(at);
    else all.push({ text, at: [at] });
    return all;
  }, []);
  const items = groups.map(({ at, text }) => {
    const again =
      at.length > 1 && html`; ${at.length} times, the last ${time(at.at(-1) ?? null, view, true)}`;
    return html`<li><span class="soft">${time(at[0] ?? null, view, true)}</span><span>${say(text)}${again}</span></li>`;
  });
  return html`<ol class="timeline">${items}</ol>`;
}

function discrepancies({ discrepancies: all }: Story, say: (text: string) => string): Html {
  if (all.length === 0) return html`<p>None was found about it.</p>`;
  const rows = all.map((one) => [
    plainKind(one.kind),
    severity(one.severity),
    one.state,
    say(`expected ${one.expected || '–'}; found ${one.actual || '–'}`),
    one.state === 'resolved' ? '' : say(actionFor(one)),
  ]);
  return wideTable('Discrepancies of this payout', ['Kind', 'Severity', 'State', 'What', 'To do'], rows);
}
