import { grouped } from '../../../core/domain/counted.ts';
import type { Payee } from '../../../core/ledger/payee-list.ts';
import { namesSearched } from '../../../core/ledger/payout-list.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import { panel, time } from './parts.ts';
import { addressOf } from './query.ts';

type Found = { payees: readonly Payee[]; changed: boolean; search: string; next: string | null };

/** The accounts that were paid before, in their order, or those that a search finds; a page at a time. */
export function payeesView({ payees, changed, search, next }: Found, view: View): Html {
  const columns = ['Account', 'Bank', 'Currency', 'Names', 'Payee ids', 'First paid', 'Last paid'];
  const rows = payees.map((one) => [
    html`<a class="whole" href="${addressOf('/payouts', { q: one.account_number })}">${one.account_number}</a>`,
    ...[one.bank_code, one.currency, one.names.join(' / '), one.payee_ids.join(' / ')],
    ...[time(one.first_paid_at, view), time(one.last_paid_at, view), `${one.paid}`, `${one.returned}`],
  ]);
  const numbers = [{ number: 'Paid' }, { number: 'Returned' }];
  const narrowed: Record<string, string> = {
    ...(changed && { changed: 'true' }),
    ...(search !== '' && { q: search }),
  };
  const searched =
    search !== '' &&
    html`<p class="soft">Accounts are searched everywhere, by their beginning, and names in the newest ${grouped(`${namesSearched}`)} payouts.</p>`;
  return html`<h1>Payees</h1>
<p>${changed ? html`<a href="/payees">All payees</a> · The page of a <a href="/batches">batch</a> pairs each account with the one before.` : html`<a href="/payees?changed=true">Only those whose account or name changed</a>`}</p>
<form class="filters" action="/payees" method="get" role="search" aria-label="Find payees">
${changed && html`<input type="hidden" name="changed" value="true">`}<label>Name or account<input name="q" value="${search}" size="30" maxlength="200" autocomplete="off"></label>
<button class="go">Show</button> <a href="/payees">Clear</a>
</form>
${searched}
${panel('In the order of their accounts', payees.length > 0 ? wideTable('Payees', [...columns, ...numbers], rows) : html`<p>No payee matches.</p>`)}
${next !== null && html`<nav aria-label="Pages"><ul><li><a href="${addressOf('/payees', { ...narrowed, after: next })}">More</a></li></ul></nav>`}`;
}
