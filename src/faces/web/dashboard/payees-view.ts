import type { Payee } from '../../../core/ledger/payee-list.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import { panel, time } from './parts.ts';
import { addressOf } from './query.ts';

type Found = { payees: readonly Payee[]; changed: boolean; next: string | null };

/** The accounts that were paid before, in their order; a page at a time. */
export function payeesView({ payees, changed, next }: Found, view: View): Html {
  const columns = ['Account', 'Bank', 'Currency', 'Names', 'Payee ids', 'First paid', 'Last paid'];
  const rows = payees.map((one) => [
    html`<a class="whole" href="${addressOf('/payouts', { q: one.account_number })}">${one.account_number}</a>`,
    ...[one.bank_code, one.currency, one.names.join(' / '), one.payee_ids.join(' / ')],
    ...[time(one.first_paid_at, view), time(one.last_paid_at, view), `${one.paid}`, `${one.returned}`],
  ]);
  const numbers = [{ number: 'Paid' }, { number: 'Returned' }];
  const only = changed ? 'changed=true&' : '';
  return html`<h1>Payees</h1>
<p>${changed ? html`<a href="/payees">All payees</a> · The page of a <a href="/batches">batch</a> pairs each account with the one before.` : html`<a href="/payees?changed=true">Only those whose account or name changed</a>`}</p>
${panel('In the order of their accounts', payees.length > 0 ? wideTable('Payees', [...columns, ...numbers], rows) : html`<p>None.</p>`)}
${next !== null && html`<nav aria-label="Pages"><ul><li><a href="/payees?${only}after=${next}">More</a></li></ul></nav>`}`;
}
