import { counted, grouped } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import type { UsedAccount } from '../../../core/ledger/payee-changes.ts';
import type { ComparedPerson, PayeeChange, PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import {
  amountWarnings,
  comparedText,
  payeeChangeNames,
  shownComparison,
} from '../../../sending/payee-facts.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { type Html, html } from '../kit/html.ts';
import { bankText, whole } from '../kit/parts.ts';
import { type HtmlCell, wideTable } from '../kit/table.ts';
import { amountsWay } from './amounts-view.ts';
import { seesBank, type View } from './frame.ts';
import { dated, panel, sentence, to } from './parts.ts';

/** So many of those who joined or left are on the page, unless the reader asks for all. */
const mostPeople = 20;
/** So many changes are on the page, unless the reader asks for all. */
const mostChanges = 100;

/** The name of the payee of a changed row; null for a reader who may not see it. */
export type NameOf = ((change: PayeeChange) => string | undefined) | null;

/** The accounts of the payouts that a comparison names, by reference; none for a reader who may not see them. */
export type AccountsNamed = ReadonlyMap<string, UsedAccount>;

/**
 * How a batch differs from the last of its series, with a row for each change (P37). Without `batch`: of a file that is not
 * taken in, which only those see who may see what is in it. `everybody`: also lists all who joined or left. `approves`: every change
 * stands on the page, whatever their number.
 */
export function comparedPart(
  compared: PayeeComparison | null,
  dropper: string,
  view: View,
  {
    batch,
    nameOf = null,
    accounts = new Map(),
    everybody = false,
    approves = false,
  }: {
    batch?: string;
    nameOf?: NameOf;
    accounts?: AccountsNamed;
    everybody?: boolean;
    approves?: boolean;
  } = {},
): Html {
  if (!compared) return html``;
  const file = batch === undefined;
  const found = shownComparison(compared, seesBank(view) ? 'nothing' : file ? 'earlier' : 'payees');
  const kept = found.changes.slice(0, everybody || approves ? found.changes.length : mostChanges);
  const changes = kept.map((one) => [
    String(one.row),
    file ? whole(visible(one.reference)) : to(['payouts', one.reference], one.reference),
    ...(nameOf ? [visible(nameOf(one) ?? '')] : []),
    { content: payeeChangeNames[one.kind], look: 'whole' },
    ...valuesOf(one, accounts, view),
    dropper,
  ]);
  const payee = nameOf ? ['Payee'] : [];
  const columns = [{ number: 'Row' }, 'Reference', ...payee, 'What', 'Before', 'Now', 'Dropped by'];
  const { joined = [], left = [] } = found.people ?? {};
  const listed = (title: string, people: readonly ComparedPerson[], all: number, isOurs: boolean): Html =>
    peopleTable(title, people, { view, all, everybody, isLinked: !(file && isOurs) });
  return panel(
    'Compared with last time',
    html`<p id="compared">${sentence(upperFirst(comparedText(found)), view)}</p>
${batch !== undefined && amountsWay(batch, found)}
${file ? [] : amountWarnings(found).map((text) => html`<p><strong>Warning:</strong> ${sentence(text, view)}</p>`)}
${changes.length > 0 && html`${wideTable('Changed payees', columns, changes, { seen: true })}${restOf('change', { shown: kept.length, kept: found.changes.length, all: changesIn(found) })}`}
${listed('Joined: paid now, and not last time', joined, found.joined, true)}
${listed('Left: paid last time, and not now', left, found.left, false)}`,
  );
}

/** What was before a change, and what is now. */
function valuesOf(one: PayeeChange, accounts: AccountsNamed, view: View): HtmlCell[] {
  switch (one.kind) {
    case 'account_changed':
    case 'new_payee':
      return accountPair(one, accounts, view);
    case 'name_changed':
      return [one.old, one.new];
    case 'amount_changed':
      return [one.old, one.new].map((text) => sentence(text, view));
  }
}

/**
 * The account of before and that of now, with since when each was paid; the texts of the change where no payout has
 * them.
 */
export function accountPair(
  one: Pick<PayeeChange, 'reference' | 'old' | 'new'> & { was?: string | null },
  accounts: AccountsNamed,
  view: View,
): HtmlCell[] {
  const [before, now] = [accounts.get(one.was ?? ''), accounts.get(one.reference)];
  const isRenamed = before !== undefined && now !== undefined && before.account_name !== now.account_name;
  const isExchanged = before !== undefined && now !== undefined && before.currency !== now.currency;
  const cell = (used: UsedAccount | undefined, text: string): HtmlCell => {
    if (!used) return text;
    const since = used.since === null ? 'not known as paid' : html`paid since ${dated(used.since, view)}`;
    const name = isRenamed && html`${visible(used.account_name)}<br>`;
    return html`${name}${whole(used.account_number)} · ${bankText(used.bank_code, view)}${isExchanged && html` · ${used.currency}`}<br><small class="soft">${since}</small>`;
  };
  return [cell(before, one.old), cell(now, one.new)];
}

/** `all`: how many there are, of whom the ledger keeps the first. */
function peopleTable(
  title: string,
  people: readonly ComparedPerson[],
  { view, all, everybody, isLinked }: { view: View; all: number; everybody: boolean; isLinked: boolean },
): Html {
  if (people.length === 0) return html``;
  const rows = people
    .slice(0, everybody ? people.length : mostPeople)
    .map(({ row, reference, name, account, amount }) => [
      String(row),
      isLinked ? to(['payouts', reference], reference) : whole(visible(reference)),
      visible(name),
      account,
      sentence(amount, view),
    ]);
  const columns = [{ number: 'Row' }, 'Reference', 'Payee', 'Account', { number: 'Amount' }];
  const rest = restOf('payee', { shown: rows.length, kept: people.length, all });
  return html`${wideTable(title, columns, rows, { seen: true })}${rest}`;
}

function changesIn({ accountChanged, nameChanged, amountChanged, newPayees }: PayeeComparison): number {
  return accountChanged + nameChanged + amountChanged + newPayees;
}

/** The way to what a page leaves out, and what nobody keeps. */
function restOf(what: string, { shown, kept, all }: { shown: number; kept: number; all: number }): Html {
  if (shown < kept) return html`<p><a href="?compared=all#compared">Show all ${counted(all, what)}</a></p>`;
  return html`${all > kept && html`<p>The first ${counted(kept, what)} of ${grouped(`${all}`)}. The ledger keeps no more.</p>`}`;
}
