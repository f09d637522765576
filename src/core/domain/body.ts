/** The parameters of a bank transfer; `type` for ZAR only. */
export type TransferOrder = {
  account_number: string;
  account_name: string;
  bank_code: string;
  amount: string;
  currency: string;
  sender_name: string;
  narration: string;
  reference: string;
  type?: 'EFT' | 'RTC';
};

/**
 * Returns the request body exactly as it is signed and sent: pure ASCII, keys sorted, `/` escaped, other characters as
 * `\uXXXX`. A service that hashes the raw body computes the same digest as one that serialises sorted parameters with
 * PHP.
 */
export function canonicalBody(order: TransferOrder): string {
  // In alphabetical order; JSON leaves out an absent type.
  const { account_name, account_number, amount, bank_code, currency } = order;
  const { narration, reference, sender_name, type } = order;
  return JSON.stringify({
    account_name,
    account_number,
    amount,
    bank_code,
    currency,
    narration,
    reference,
    sender_name,
    type,
  })
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
