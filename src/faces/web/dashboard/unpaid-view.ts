import type { unpaidRows } from '../../../books/unpaid.sql.ts';
import { saidOf } from '../../../words/plain-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { seesBank, type View } from './frame.ts';
import { exactAmount, sentence, stateBadge, to } from './parts.ts';

export type UnpaidRows = Awaited<ReturnType<typeof unpaidRows>>;

/** So many of them stand on the page of a month. */
export const mostUnpaid = 50;

/** Who was not paid and why, without those who are paid again. */
export function unpaidPart(rows: UnpaidRows, view: View): Html {
  const sees = seesBank(view);
  const cells = rows.slice(0, mostUnpaid).map((one) => [
    to(['payouts', one.reference], one.reference),
    sees ? one.account_name : 'hidden',
    exactAmount(one.currency, one.amount),
    stateBadge(one.state),
    // What the service says may name an account.
    sees ? sentence(saidOf(one.state, one.message ?? ''), view) : 'hidden',
    to(['batches', one.batch_id], one.batch_id),
  ]);
  const columns = ['Reference', 'Payee', { number: 'Amount' }, 'State', 'What the service says', 'Batch'];
  const more =
    rows.length > mostUnpaid &&
    html`<p>These are the newest. The <a href="/batches">batches</a> say how many of theirs are unpaid.</p>`;
  return html`${wideTable('Not paid', columns, cells)}${more}`;
}
