import { counted } from '../../../core/domain/counted.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { ColumnTotals, findLastAlike } from './batch-columns.sql.ts';
import type { BatchLook } from './batches.sql.ts';
import type { View } from './frame.ts';
import { amount, countText, panel, time, to } from './parts.ts';

/** The totals of a batch by what its file has beside our columns. */
export function columnsView({ batch }: BatchLook, columns: readonly ColumnTotals[]): Html {
  const none = html`<p>The file has no column beside ours with so few values that totals would say something.</p>`;
  return html`<h1>Totals of ${batch.id}</h1>
${columns.length > 0 ? columnPanels(columns) : none}
<p>${to(['batches', batch.id], 'Back to the batch')}</p>`;
}

export function columnPanels(columns: readonly ColumnTotals[]): Html {
  return html`${columns.map((one) => panel(`Totals by ${one.column}`, columnTable(one)))}`;
}

function columnTable({ column, values }: ColumnTotals): Html {
  const rows = [...values]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .flatMap(([value, sums]) =>
      [...sums].map(([currency, { count, minor }]) => [
        value || '(empty)',
        countText(count),
        amount(currency, minor),
      ]),
    );
  return wideTable(`Totals by ${column}`, [column, { number: 'Payouts' }, { number: 'Amount' }], rows);
}

export type LastAlike = Awaited<ReturnType<typeof findLastAlike>>;

/** What the batch of the same columns before this one came to. */
export function lastTime(last: LastAlike, view: View): Html {
  if (!last) return html`no batch with the same columns`;
  const totals = [...last.totals].map(([currency, minor]) => amount(currency, minor));
  return html`${to(['batches', last.id], last.id)}, ${time(last.created_at, view)}: ${totals.join(', ')}, ${counted(last.row_count, 'payout')}`;
}
