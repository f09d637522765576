import type { ColumnTotals } from '../../../books/column-totals.ts';
import type { PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import type { Approvable } from '../../../sending/approvals.sql.ts';
import { type Html, html } from '../kit/html.ts';
import { digestMark } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { columnPanels, type LastAlike, lastTime } from './batch-columns-view.ts';
import type { BatchLook, payoutsIn } from './batches.sql.ts';
import { type AccountsNamed, comparedPart, type NameOf } from './compared-part.ts';
import { form } from './forms.ts';
import { accountText, seesBank, type View } from './frame.ts';
import type { DayAhead } from './later.sql.ts';
import { laterFacts } from './later-view.ts';
import { countText, exactAmount, facts, panel, sentence, time, to } from './parts.ts';

type Rows = Awaited<ReturnType<typeof payoutsIn>>;

/** What a second person must see before the batch goes (P2). */
export function approveView(
  look: BatchLook,
  shown: Approvable,
  about: {
    warnings: readonly string[];
    largest: Rows;
    columns: readonly ColumnTotals[];
    last: LastAlike;
    mends: number;
    compared: PayeeComparison | null;
    nameOf: NameOf;
    accounts?: AccountsNamed;
    everybody: boolean;
    later: readonly DayAhead[];
    view: View;
  },
): Html {
  const { batch } = look;
  const { warnings, largest, columns, last, mends, compared, nameOf, accounts, everybody, later, view } =
    about;
  return html`<h1>Approve ${batch.id}</h1>
<p class="jump screen"><a class="btn" href="#decide">Approve or reject</a></p>
${comparedPart(compared, batch.dropped_by, view, { batch: batch.id, nameOf, ...(accounts && { accounts }), everybody, approves: true })}
${panel(
  'What you approve',
  html`${facts([
    ['File', batch.file_name],
    ['Dropped by', batch.dropped_by],
    ...(mends > 0
      ? [['Changed cells', html`${countText(mends)}, see ${to(['batches', batch.id], 'the batch')}`] as const]
      : []),
    ['Taken in', time(batch.created_at, view)],
    ['Payouts', countText(shown.rows)],
    ...Object.entries(shown.totals).map(
      ([currency, total]) => [`Total ${currency}`, sentence(total, view)] as const,
    ),
    ...laterFacts(later),
    // What was compared names last time itself.
    ...(compared === null ? [['Last time', lastTime(last, view)] as const] : []),
    ['Digest', digestMark(shown.digest)],
  ])}
${warnings.length > 0 && html`<p class="warn">Look at this first:</p><ul>${warnings.map((text) => html`<li>${sentence(text, view)}</li>`)}</ul>`}`,
)}
${panel(
  'The largest payments',
  wideTable(
    'The largest payments',
    ['Reference', 'Payee', 'Account', { number: 'Amount' }],
    largest.map((row) => [
      to(['payouts', row.reference], row.reference),
      seesBank(view) ? row.account_name : 'hidden',
      accountText(row, view),
      exactAmount(row.currency, row.amount),
    ]),
  ),
)}
${columnPanels(columns)}
<p><a href="/batches/${encodeURIComponent(batch.id)}">All rows, in the order of the file</a></p>
<div id="decide">${panel(
    'Decide',
    html`${form(view, {
      action: `/batches/${encodeURIComponent(batch.id)}/approve`,
      role: 'approve',
      fields: [
        { kind: 'hidden', name: 'digest', value: shown.digest },
        { kind: 'sure', label: 'I have checked these payments, and I did not drop them' },
      ],
      buttons: [{ name: 'Approve' }],
    })}
<details id="reject"><summary>Reject…</summary>${form(view, {
      action: `/batches/${encodeURIComponent(batch.id)}/reject`,
      role: 'approve',
      fields: [
        { kind: 'hidden', name: 'digest', value: shown.digest },
        {
          kind: 'note',
          label: 'Why; the person who dropped the file reads it',
          id: 'reject-note',
          required: true,
        },
      ],
      buttons: [{ name: 'Reject' }],
    })}</details>`,
    'screen',
  )}</div>
<p>${to(['batches', batch.id], 'Back to the batch')}</p>`;
}
