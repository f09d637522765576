/** An account number without the leading zeros that a spreadsheet drops: both spellings are one account. */
export function bareAccount(account: string): string {
  return account.replace(/^0+/, '');
}
