import { amountText, counted } from '../core/domain/counted.ts';
import { maskAccount } from '../core/domain/redact.ts';
import type { ApprovalCause, HoldReason } from '../core/ledger/hold-reasons.ts';
import type { ComparedPerson, PayeeChange, PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Config } from '../core/settings/settings.ts';

/** What a batch with changed or new payees needs: `submission.payees`. */
export type PayeeRule = 'off' | 'warn' | 'approve_changed' | 'approve_new';

/** True where the rule asks for an approval of whom a batch pays (P37). */
export function needsApprovalOfPayees(
  rule: PayeeRule | undefined,
): rule is 'approve_changed' | 'approve_new' {
  return rule === 'approve_changed' || rule === 'approve_new';
}

/** Why a batch needs a second person for whom it pays (P37); null where the rule asks for none. */
export function payeesAsked(rule: PayeeRule, found: PayeeComparison | null): ApprovalCause | null {
  if (!found || !needsApprovalOfPayees(rule)) return null;
  const { accountChanged, newPayees, hundredfold, inflated } = found;
  const fresh = rule === 'approve_new' ? newPayees : 0;
  if (accountChanged + fresh + hundredfold.count + inflated.length === 0) return null;
  const kinds: PayeeChange['kind'][] = ['account_changed', ...(fresh > 0 ? ['new_payee' as const] : [])];
  const first = found.changes.filter(({ kind }) => kinds.includes(kind)).slice(0, 5);
  // A row may have both reasons.
  const rows = [...new Set([...first.map(({ row }) => row), ...hundredfold.rows])].slice(0, 5);
  return { kind: 'payees', changed: accountChanged, fresh, hundredfold: hundredfold.count, inflated, rows };
}

/** The hold of a batch that needs an approval. Where only rows of it are at fault, `submission.on_changed` may say that only they wait. */
export function approvalHold(
  why: ApprovalCause,
  dropper: string,
  onChanged: 'batch' | 'rows',
): Extract<HoldReason, { kind: 'approval' }> {
  const isOfRows = onChanged === 'rows' && why.kind === 'payees' && why.inflated.length === 0;
  return { kind: 'approval', why, dropper, ...(isOfRows && { scope: 'rows' }) };
}

/** Says why the payees of a batch ask for a second person. */
export function payeesText(why: Extract<ApprovalCause, { kind: 'payees' }>): string {
  const { changed, fresh, hundredfold, inflated, rows } = why;
  const parts = [
    ...(changed > 0 ? [`${counted(changed, 'payee')} with another account than before`] : []),
    ...(fresh > 0 ? [`${counted(fresh, 'new payee')}`] : []),
    ...(hundredfold > 0 ? [hundredfoldText(hundredfold)] : []),
    ...inflated.map((currency) => `the ${currency} total is a hundred times that of before`),
  ];
  const named = rows.length > 0 ? `, first in ${rows.length === 1 ? 'row' : 'rows'} ${rows.join(', ')}` : '';
  return `${parts.join(', ')}${named}`;
}

const hundredfoldText = (count: number): string =>
  count === 1
    ? '1 amount a hundred times that of before'
    : `${count} amounts a hundred times those of before`;

/**
 * What a reader may not see of a comparison. `accounts`: account numbers, as `reports.mask_accounts` says. `earlier`: accounts
 * and names of earlier batches: a person may know only the own file. `payees`: all accounts and names.
 */
export type Hidden = 'nothing' | 'accounts' | 'earlier' | 'payees';

/** What `reports.mask_accounts` hides. */
export function hiddenBy({ maskAccounts }: Config['reports']): Hidden {
  return maskAccounts ? 'accounts' : 'nothing';
}

/**
 * The comparison with account numbers masked, and without names, as the reader may see it: the one place that says so.
 */
export function shownComparison(found: PayeeComparison, hidden: Hidden): PayeeComparison {
  if (hidden === 'nothing') return found;
  const mask = (text: string): string => text.replaceAll(/\b\d{5,20}\b/g, maskAccount);
  const without = (people: readonly ComparedPerson[]) =>
    people.map(({ name, account, ...one }) => {
      return { ...one, name: hidden === 'accounts' ? name : 'hidden', account: maskAccount(account) };
    });
  const changes = found.changes.map((one) => {
    if (one.kind === 'amount_changed' || (one.kind === 'name_changed' && hidden === 'accounts')) return one;
    const hide = one.kind === 'name_changed' ? () => 'hidden' : mask;
    const [old, now] = [hide(one.old), hidden === 'earlier' ? one.new : hide(one.new)];
    const isAlike = one.kind === 'account_changed' && old === now && one.old !== one.new;
    return { ...one, old, new: isAlike ? `${now} (the hidden digits differ)` : now };
  });
  if (!found.people) return { ...found, changes };
  const { joined, left } = found.people;
  const people = { joined: hidden === 'earlier' ? joined : without(joined), left: without(left) };
  return { ...found, changes, people };
}

/** Whether it was compared with a batch of its series. Otherwise each row was, with what its payee was paid earlier. */
export function isOfSeries({ day }: PayeeComparison): boolean {
  return day !== '';
}

/** What the rows of a batch changed against the last batch of its series, in one line. */
export function comparedText(found: PayeeComparison): string {
  const { joined, left, accountChanged, nameChanged, amounts, amountChanged, newPayees } = found;
  const counts = [
    // Only a batch before has people of whom others are not.
    ...(isOfSeries(found) ? [`joined ${joined}`, `left ${left}`] : []),
    `account changed ${accountChanged}`,
    `name changed ${nameChanged}`,
    ...(amounts
      ? [`amount changed ${amounts.count}${amounts.count > 0 ? ` (${sumsText(amounts.sums)} in all)` : ''}`]
      : []),
    // Without a batch before, only what is paid again has an amount of before.
    ...(isOfSeries(found) || amountChanged > 0 ? [`amount changed by more than half ${amountChanged}`] : []),
    ...(newPayees > 0 ? [`never paid before ${newPayees}`] : []),
  ].join(', ');
  const start = isOfSeries(found)
    ? `compared with ${found.with} of ${found.day}`
    : 'no batch of its series is earlier; compared with what was paid before';
  const before =
    Object.keys(found.totalsBefore).length > 0 ? `total before ${sumsText(found.totalsBefore)}, ` : 'total ';
  return `${start}: ${counts}; ${before}now ${sumsText(found.totalsNow)}`;
}

export const payeeChangeNames: Record<PayeeChange['kind'], string> = {
  account_changed: 'account changed',
  name_changed: 'name changed',
  amount_changed: 'amount changed',
  new_payee: 'never paid before',
};

export function payeeChangeText({ row, reference, kind, ...values }: PayeeChange): string {
  const value = kind === 'new_payee' ? values.new : `${values.old} → ${values.new}`;
  return `row ${row}${reference === '' ? '' : ` (${reference})`}: ${payeeChangeNames[kind]}: ${value}`;
}

/** What a person should look at, whatever the rule. Accounts are masked: these texts go wherever warnings go. */
export function payeeWarnings(found: PayeeComparison | null): string[] {
  if (!found) return [];
  const [first] = shownComparison(found, 'accounts').changes.filter(({ kind }) => kind === 'account_changed');
  const n = found.accountChanged;
  return [
    ...(first
      ? [`${counted(n, 'payee')} with another account than before, the first: ${payeeChangeText(first)}`]
      : []),
    ...amountWarnings(found),
  ];
}

/** Amounts that look as if somebody wrote kobo or cents for whole units. */
export function amountWarnings({ hundredfold, inflated }: PayeeComparison): string[] {
  const slip = 'kobo or cents may stand as whole units';
  return [
    ...(hundredfold.count > 0
      ? [`${hundredfoldText(hundredfold.count)}: rows ${hundredfold.rows.join(', ')}; ${slip}`]
      : []),
    ...inflated.map(
      (currency) =>
        `all ${currency} amounts end in two zeros, and their total is a hundred times that of before: ${slip}`,
    ),
  ];
}

function sumsText(totals: Record<string, string>): string {
  const sums = Object.entries(totals).map(([currency, sum]) => amountText(currency, sum));
  return sums.length > 0 ? sums.join(', ') : 'nothing';
}
