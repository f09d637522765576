import { counted } from '../../../core/domain/counted.ts';
import { countedStates, isReplaced, type PayoutState, payoutStates } from '../../../core/domain/payout.ts';
import { areHoldingAll, readReasons, reasonMark } from '../../../core/ledger/hold-reasons.ts';
import type { Mend } from '../../../core/ledger/mends.ts';
import type { PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import { originalOf } from '../../../intake/prepared.ts';
import type { Maker } from '../../../sending/approval.ts';
import type { approvalsOf } from '../../../sending/approvals.sql.ts';
import type { batchHalts } from '../../../sending/halts.sql.ts';
import { haltCauseText } from '../../../words/halt-words.ts';
import { holdTexts } from '../../../words/hold-words.ts';
import { newsOf } from '../../../words/plain-words.ts';
import { newFileText } from '../../../words/state-words.ts';
import { hasRight } from '../../admin/access.ts';
import { hider } from '../../json/hide.ts';
import { type Html, html } from '../kit/html.ts';
import { separated, way } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { batchStateText, isMaker, moneyIn, open, progressBar, unpaidIn } from './batch-parts.ts';
import { answerAwaited, type BatchLook, type payoutsIn } from './batches.sql.ts';
import { type AccountsNamed, comparedPart, type NameOf } from './compared-part.ts';
import { mendsTable } from './files/drop-view.ts';
import { decision, whoMay } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import type { DayAhead } from './later.sql.ts';
import { laterFacts } from './later-view.ts';
import { type PartOfList, pages } from './pages.ts';
import {
  amount,
  countText,
  exactAmount,
  facts,
  panel,
  payeeCell,
  sentence,
  stateBadge,
  stateText,
  time,
  to,
} from './parts.ts';

type Approvals = NonNullable<ReturnType<Awaited<ReturnType<typeof approvalsOf>>['get']>>;
type Halts = Awaited<ReturnType<typeof batchHalts>>;
type Rows = Awaited<ReturnType<typeof payoutsIn>>;

/** So many rows of a batch are on a page. */
export const mostRows = 200;

/** One batch: where its payouts stand, why it is held, and what a person can decide. */
export function batchView(
  look: BatchLook,
  about: {
    approvals: Approvals;
    rows: Rows;
    state: PayoutState | null;
    page: PartOfList;
    halts: Halts;
    makers: readonly Maker[];
    mends: readonly Mend[];
    compared: PayeeComparison | null;
    nameOf: NameOf;
    accounts?: AccountsNamed;
    everybody: boolean;
    newFile: boolean;
    later: readonly DayAhead[];
  },
  view: View,
): Html {
  const { approvals, rows, state, page, makers, mends, compared, nameOf, accounts, everybody, later } = about;
  const { batch } = look;
  const as = batch.dropped_as === '' ? '' : ` as ${batch.dropped_as}`;
  const approved = approvals.map(
    ({ by, at, digest }) =>
      html`Approved by ${by}, ${time(at, view)}, digest <code>${digest.slice(0, 12)}</code>`,
  );
  const isSent = look.state === 'sending' || look.state === 'sent' || look.state === 'done';
  const people = [
    `Dropped by ${batch.dropped_by}${as}`,
    ...makers
      .filter(({ name, did }) => did === 'mended' || (did === 'dropped' && name !== batch.dropped_by))
      .map(({ name, did }) => `${did === 'mended' ? 'Mended' : 'Dropped'} by ${name}`),
    ...approved,
    ...(isSent && approved.length === 0 ? ['Approved by nobody'] : []),
  ];
  return html`<h1>${batch.id}</h1>
<p class="soft">${separated(people, ' · ')}</p>
${comparedPart(compared, batch.dropped_by, view, { batch: batch.id, nameOf, ...(accounts && { accounts }), everybody })}
${panel(
  'Where it stands',
  html`${facts([
    ['State', batchStateText(look)],
    ['Progress', progressBar(look)],
    ['Paid', moneyIn(look, ['success'])],
    ['Open', moneyIn(look, open)],
    ...laterFacts(later),
    ['File', batch.file_name],
    ['Taken in', time(batch.created_at, view)],
  ])}
<p>${separated(
    ['results.csv', 'results.xlsx', ...(unpaidIn(look) > 0 ? ['failed.csv'] : [])].map((name) =>
      way(view, `/reports/${encodeURIComponent(batch.id)}/${name}`, name),
    ),
    ' · ',
  )} · ${to(['batches', batch.id, 'columns'], 'Totals by column')}</p>`,
)}
${decisions(look, about, view)}
${mends.length > 0 && panel('Changed before it was taken in', html`<p>The file as it was dropped is in the archive under <code>${originalOf(batch.id)}--${batch.file_name}</code>.</p>${mendsTable(mends, seesBank(view), view)}`)}
${panel('Payouts by state', statesTable(look))}
${panel(page.number === 1 && !page.more ? counted(rows.length, 'payout') : 'Payouts', payoutsPart(look, { rows, state, page }, view))}`;
}

function decisions(
  look: BatchLook,
  { halts, makers, newFile }: { halts: Halts; makers: readonly Maker[]; newFile: boolean },
  view: View,
): Html {
  const { batch, state, counts } = look;
  const reasons = readReasons(batch.hold_reasons);
  const failed = halts.map(({ cause }) => haltCauseText([cause]));
  const held = [...holdTexts(reasons, batch.id, { names: seesBank(view) }), ...failed].map(
    (text) => html`<li>${sentence(text, view)}</li>`,
  );
  const path = `/batches/${encodeURIComponent(batch.id)}`;
  const isPartHeld = failed.length === 0 && reasons.length > 0 && !areHoldingAll(reasons);
  const unanswered = answerAwaited(look);
  const waits = reasons.some(({ kind }) => kind === 'approval');
  const canHold = state !== 'loading' && (counts.ready ?? 0) > 0;
  const parts = [
    ...(held.length > 0
      ? [html`<p>${isPartHeld ? 'A part of it waits, and the rest goes' : 'It is held'}:</p><ul>${held}</ul>`]
      : []),
    ...(unanswered === null
      ? []
      : [
          html`<p>It waits until the service answers what service.extras asks: ${sentence(unanswered, view)}</p>`,
        ]),
    ...(unpaidIn(look) > 0
      ? [
          newFile
            ? html`<p>${newFileText}</p>`
            : hasRight(view.caller, 'decide')
              ? html`<p><a class="go" href="${path}/again">Pay what is unpaid again…</a></p>`
              : html`<p>To pay what is unpaid again: ${whoMay(view, 'decide')}</p>`,
        ]
      : []),
    ...(waits ? [approvalWay(path, isMaker(makers), view)] : []),
    ...(unanswered !== null || (state === 'held' && reasons.some(({ kind }) => kind !== 'approval'))
      ? [
          decision(view, {
            id: 'release',
            name: 'Release',
            action: `${path}/release`,
            sure:
              unanswered === null
                ? 'The reasons above are dealt with: its payouts may be sent'
                : 'Its payouts may be sent without that answer',
            shown: [...reasons.map(reasonMark), ...halts.map(({ mark }) => mark)],
          }),
        ]
      : []),
    ...(canHold
      ? [
          decision(view, {
            id: 'hold',
            name: 'Hold',
            action: `${path}/hold`,
            sure: 'Hold what is not sent yet',
          }),
        ]
      : []),
    ...(state !== 'loading' && (counts.ready ?? 0) + (counts.held ?? 0) > 0
      ? [
          decision(view, {
            id: 'cancel',
            name: 'Cancel',
            action: `${path}/cancel`,
            sure: 'What was never sent is not paid, and this cannot be undone',
          }),
        ]
      : []),
  ];
  if (parts.length === 0) return html``;
  const isWaiting = held.length > 0 || unanswered !== null;
  return panel('Decide', html`${parts}`, isWaiting ? '' : 'screen');
}

/** `own`: whether somebody prepared the file, and so may not approve it (P37). */
function approvalWay(path: string, own: (name: string) => boolean, view: View): Html {
  const { caller } = view;
  if (caller.kind === 'token' && hasRight(caller, 'approve') && !own(caller.name))
    return html`<p><a class="go" href="${path}/approve">Review and approve…</a></p>`;
  return html`<p class="soft">Who dropped or mended a batch may not approve it. ${whoMay(view, 'approve', own)}</p>`;
}

function statesTable({ batch, counts, sums }: BatchLook): Html {
  const currencies = [...sums.keys()];
  const rows = countedStates.flatMap((state) => {
    const count = counts[state] ?? 0;
    if (count === 0) return [];
    const cells = currencies.map((currency) => {
      const one = sums.get(currency)?.[state];
      return one ? amount(currency, one.minor) : '–';
    });
    const name = isReplaced(state)
      ? stateText(state)
      : html`<a href="/batches/${encodeURIComponent(batch.id)}?state=${state}">${stateText(state)}</a>`;
    return [[name, countText(count), ...cells]];
  });
  if (rows.length === 0) return html`<p>Its payouts are still being taken in.</p>`;
  const columns = currencies.map((currency) => ({ number: currency }));
  return wideTable('Payouts by state', ['State', { number: 'Payouts' }, ...columns], rows);
}

function payoutsPart(
  { batch }: BatchLook,
  { rows, state, page }: { rows: Rows; state: PayoutState | null; page: PartOfList },
  view: View,
): Html {
  const isOpen = seesBank(view);
  const cells = rows.map((row) => [
    to(['payouts', row.reference], row.reference),
    ...(isOpen ? [payeeCell(row, view)] : []),
    exactAmount(row.currency, row.amount),
    stateBadge(row.state),
    sentence(isOpen ? newsOf(row, []) : hider(row)(newsOf(row, [])), view),
  ]);
  const payee = isOpen ? ['Payee'] : [];
  const columns = ['Reference', ...payee, { number: 'Amount' }, 'State', 'What the service says'];
  return html`${state !== null && html`<p>Only ${stateText(state)}. ${to(['batches', batch.id], 'All states')}</p>`}
${wideTable('Payouts of the batch', columns, cells)}
${pages(`/batches/${encodeURIComponent(batch.id)}`, page, state === null ? {} : { state }, ['Before', 'After'])}`;
}

export function stateNamed(text: unknown): PayoutState | null {
  return payoutStates.find((one) => one === text) ?? null;
}
