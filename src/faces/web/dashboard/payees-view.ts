import { grouped } from '../../../core/domain/counted.ts';
import type { ListedChange } from '../../../core/ledger/payee-changes.ts';
import type { Payee } from '../../../core/ledger/payee-list.ts';
import { namesSearched } from '../../../core/ledger/payout-list.ts';
import { payeeChangeNames } from '../../../sending/payee-facts.ts';
import { type Html, html } from '../kit/html.ts';
import { bankText } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { type AccountsNamed, accountPair } from './compared-part.ts';
import type { View } from './frame.ts';
import { type PartOfList, pages } from './pages.ts';
import { panel, stateBadge, time, to } from './parts.ts';
import { addressOf } from './query.ts';

/** The accounts that were paid before, in their order, or those that a search finds; a page at a time. */
export function payeesView(
  { payees, search, next }: { payees: readonly Payee[]; search: string; next: string | null },
  view: View,
): Html {
  const columns = ['Account', 'Bank', 'Currency', 'Names', 'Payee ids', 'First paid', 'Last paid'];
  const rows = payees.map((one) => [
    html`<a class="whole" href="${addressOf('/payouts', { q: one.account_number })}">${one.account_number}</a>`,
    ...[bankText(one.bank_code, view), one.currency, one.names.join(' / '), one.payee_ids.join(' / ')],
    ...[time(one.first_paid_at, view), time(one.last_paid_at, view), `${one.paid}`, `${one.returned}`],
  ]);
  const numbers = [{ number: 'Paid' }, { number: 'Returned' }];
  const searched =
    search !== '' &&
    html`<p class="soft">Accounts are searched everywhere, by their beginning, and names in the newest ${grouped(`${namesSearched}`)} payouts.</p>`;
  return html`<h1>Payees</h1>
<p><a href="/payees?changed=true">Those whose account or name changed</a></p>
<form class="filters" action="/payees" method="get" role="search" aria-label="Find payees">
<label>Name or account<input name="q" value="${search}" size="30" maxlength="200" autocomplete="off"></label>
<button class="go">Show</button> <a href="/payees">Clear</a>
</form>
${searched}
${panel('In the order of their accounts', payees.length > 0 ? wideTable('Payees', [...columns, ...numbers], rows) : html`<p>No payee matches.</p>`)}
${next !== null && html`<nav aria-label="Pages"><ul><li><a href="${addressOf('/payees', { ...(search !== '' && { q: search }), after: next })}">More</a></li></ul></nav>`}`;
}

/** A change, and who approved the payout that brought it. */
export type ApprovedChange = { change: ListedChange; approved: { by: string; at: string } | null };

/** The accounts and names that changed, with those of before; also those of a batch that waits. */
export function changedPayeesView(
  {
    changes,
    accounts,
    page,
  }: { changes: readonly ApprovedChange[]; accounts: AccountsNamed; page: PartOfList },
  view: View,
): Html {
  const rows = changes.map(({ change, approved }) => {
    const { reference, kind, batch_id: batch, payout } = change;
    return [
      { content: accounts.get(reference)?.account_name ?? '', look: 'payee' as const },
      { content: payeeChangeNames[kind], look: 'whole' as const },
      ...(kind === 'account_changed' ? accountPair(change, accounts, view) : [change.old, change.new]),
      html`${to(['payouts', reference], reference)}${payout && html`<br>${stateBadge(payout.state)}`}`,
      html`${to(['batches', batch], batch)}<br><small class="soft">dropped by ${change.dropped_by}, ${time(change.taken_in_at, view)}</small>`,
      approved ? html`${approved.by}<br><small class="soft">${time(approved.at, view)}</small>` : 'nobody',
    ];
  });
  const columns = ['Payee', 'What', 'Before', 'Now', 'Payout', 'Batch', 'Approved by'];
  return html`<h1>Changed payees</h1>
<p><a href="/payees">All payees</a></p>
${panel('The newest first', rows.length > 0 ? wideTable('Changed payees', columns, rows) : html`<p>None.</p>`)}
${pages('/payees', page, { changed: 'true' })}`;
}
