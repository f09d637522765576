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
  const sorted = Object.entries(order)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted))
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
