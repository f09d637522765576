import type { ColumnTotals } from '../../../books/column-totals.ts';
import { counted } from '../../../core/domain/counted.ts';
import { noColumnTotals } from '../../../words/column-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { BatchLook } from './batches.sql.ts';
import type { View } from './frame.ts';
import type { findLastAlike } from './last-alike.sql.ts';
import { amount, countText, panel, time, to } from './parts.ts';

/** The totals of a batch by what its file has beside our columns, and how much of each is paid. */
export function columnsView({ batch }: BatchLook, columns: readonly ColumnTotals[]): Html {
  return html`<h1>Totals of ${batch.id}</h1>
${columns.length > 0 ? columnPanels(columns, { withPaid: true }) : html`<p>${noColumnTotals}</p>`}
<p>${to(['batches', batch.id], 'Back to the batch')}</p>`;
}

export function columnPanels(columns: readonly ColumnTotals[], { withPaid = false } = {}): Html {
  return html`${columns.map((one) => panel(`Totals by ${one.column}`, columnTable(one, withPaid)))}`;
}

function columnTable({ column, values }: ColumnTotals, withPaid: boolean): Html {
  const rows = values.map(({ value, currency, sum }) => [
    value,
    countText(sum.count),
    amount(currency, sum.amount),
    ...(withPaid ? [countText(sum.paidCount), amount(currency, sum.paid)] : []),
  ]);
  const paid = withPaid ? [{ number: 'Paid payouts' }, { number: 'Paid' }] : [];
  const heads = [column, { number: 'Payouts' }, { number: 'Amount' }, ...paid];
  return wideTable(`Totals by ${column}`, heads, rows);
}

export type LastAlike = Awaited<ReturnType<typeof findLastAlike>>;

/** What the batch of the same columns before this one came to. */
export function lastTime(last: LastAlike, view: View): Html {
  if (!last) return html`no batch with the same columns`;
  const totals = [...last.totals].map(([currency, minor]) => amount(currency, minor));
  return html`${to(['batches', last.id], last.id)}, ${time(last.created_at, view)}: ${totals.join(', ')}, ${counted(last.row_count, 'payout')}`;
}
