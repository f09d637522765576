import { visible } from '../../../core/domain/hidden.ts';
import type { PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import type { AmountDifference } from '../../../intake/amount-differences.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { seesBank, type View } from './frame.ts';
import { type PartOfList, pages } from './pages.ts';
import { amount, countText, panel, to } from './parts.ts';

type Found = {
  batch: string;
  compared: PayeeComparison;
  /** Null where an archive has the payouts of one of the two batches. */
  differences: readonly AmountDifference[] | null;
  page: PartOfList;
};

/** Everybody whose amount differs from that of the batch before, the largest difference first. */
export function amountsView({ batch, compared, differences, page }: Found, view: View): Html {
  const { with: earlier, day } = compared;
  const rows = (differences ?? []).map(({ reference, name, currency, before, now }) => [
    to(['payouts', reference], reference),
    seesBank(view) ? visible(name) : 'hidden',
    ...[before, now, now - before].map((minor) => amount(currency, minor)),
  ]);
  const columns = ['Reference', 'Payee', { number: 'Before' }, { number: 'Now' }, { number: 'Difference' }];
  return html`<h1>Changed amounts of ${batch}</h1>
<p>Compared with ${earlier !== null && to(['batches', earlier], earlier)} of ${day}.</p>
${
  differences === null
    ? html`<p>The payouts of one of these batches are in an archive, so that they cannot be compared here.</p>`
    : panel(
        'The largest difference first',
        rows.length > 0 ? wideTable('Changed amounts', columns, rows) : html`<p>No amount differs.</p>`,
      )
}
${pages(`/batches/${encodeURIComponent(batch)}/amounts`, page, {}, ['Before', 'After'])}
<p>${to(['batches', batch], 'Back to the batch')}</p>`;
}

/** How many amounts differ from the batch before, and the way to them. */
export function amountsWay(batch: string, { amounts }: PayeeComparison): Html {
  if (!amounts || amounts.count === 0) return html``;
  const many = `${countText(amounts.count)} ${amounts.count === 1 ? 'amount' : 'amounts'} changed`;
  return html`<p><a href="/batches/${encodeURIComponent(batch)}/amounts">${many}: before, now and the difference</a></p>`;
}
