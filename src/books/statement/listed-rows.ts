import { foldReference } from '../../core/domain/ids.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { isBeneficiary, readStatus } from '../../core/domain/witness.ts';
import type { Course } from '../book.ts';
import type { ListedPart, PayoutFacts, StatementScope } from '../statement-facts.sql.ts';
import type { About } from './entry.ts';

/**
 * Where a row names our reference, one unlike the payout that bears the answered number alone is a stranger's. So is one
 * that another account lists (P31). One that only seems too early stays: a clock that was ahead may be why (P33).
 */
export function ownRows({ payout, listed: all }: PayoutFacts): ListedPart[] {
  const listed = all.filter((row) => !row.others);
  if (listed.length < 2) return listed;
  const isNamed = ({ reference }: ListedPart): boolean =>
    foldReference(reference) === foldReference(payout.reference);
  const beneficiary = { accountNumber: payout.account_number, bankCode: payout.bank_code };
  const isLike = (row: ListedPart): boolean =>
    row.amount === payout.amount && row.currency === payout.currency && isBeneficiary(row, beneficiary);
  return listed.some(isNamed) ? listed.filter((row) => isNamed(row) || isLike(row)) : listed;
}

/**
 * True where a person said that it is paid, and nothing was ever sent from here: no list of the service can show it. What
 * was sent and is not listed stays unseen, whatever a person says.
 */
export function isSentElsewhere({ payout }: PayoutFacts, { after }: Course): boolean {
  return after.state === 'success' && payout.submitted_at === null && restsOnPerson(payout.evidence);
}

/** Why no list shows a payout of the books. A person may also settle as paid what was never sent. */
export function whyUnlisted(
  { payout, listed }: PayoutFacts,
  { listing, words }: Pick<About, 'listing' | 'words'>,
): string {
  const sent =
    payout.submitted_at === null
      ? 'never sent, settled as paid by a person'
      : restsOnPerson(payout.evidence)
        ? 'sent; only a person says that it is paid'
        : 'sent';
  if (listing === null) return `${sent}; no list was read`;
  const [other] = listed;
  if (other) return `${sent}; listed only as ${told(other)} in mode ${other.domain}`;
  return `${sent}, and the list does not show it${words.unlisted(listing.standing ?? 'unread')}`;
}

export const isFailed = ({ status }: ListedPart): boolean => readStatus(status) === 'failed';
export const isUnreadable = ({ amount }: ListedPart): boolean => amount === null;

/** Rows of the statement's mode. A key's list shows one mode; another mode is a separate discrepancy. */
export function inMode({ listed }: PayoutFacts, { mode }: Pick<StatementScope, 'mode'>): ListedPart[] {
  return listed.filter((row) => row.domain === null || row.domain.toLowerCase() === mode);
}

/** Puts the payout's own transfer first: the one with the id that we were given. */
export function standingFirst(rows: ListedPart[], { payout }: PayoutFacts): ListedPart[] {
  const rank = (row: ListedPart): number => (row.transfer_id === payout.transfer_id ? 0 : 1);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

export function told({ transfer_id, status, amount, amount_text, currency }: ListedPart): string {
  const unread = amount === null ? `, whose amount "${amount_text} ${currency}" cannot be read` : '';
  return `transfer ${transfer_id}, ${status}${unread}`;
}
