import { maskTold } from '../../books/presentation.ts';
import { maskAccount } from '../../core/domain/redact.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';

/** Hides the account number and the name of a payout in any text, such as the service's own words. */
export function hider({
  account_number: account,
  account_name: name,
}: Pick<Payout, 'account_number' | 'account_name'>): (text: string) => string {
  return (text) => {
    const masked = maskTold(text).replaceAll(account, maskAccount(account));
    return name.length < 3 ? masked : masked.replaceAll(name, '…');
  };
}
