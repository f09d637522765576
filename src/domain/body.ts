/** The parameters of a bank transfer; `type` for ZAR only (service-interface.md, endpoint 3). */
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
 * The request body, byte for byte what is signed and sent: keys sorted, `/` escaped, everything outside ASCII as
 * `\uXXXX`. A service that hashes the raw body and one that re-serialises sorted parameters as PHP does compute the
 * same digest. Pure ASCII.
 */
export function canonicalBody(order: TransferOrder): string {
  // In the order of their names; JSON leaves out a type that is not there.
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
