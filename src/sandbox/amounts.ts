const amountPattern = /^\d{1,15}(?:\.\d{1,2})?$/;

/** True for a positive decimal with at most 15 digits before the point and two after it. */
export function isAmount(text: string): boolean {
  return amountPattern.test(text) && toMinor(text) > 0n;
}

/** Converts a decimal to hundredths of its currency. Further digits are cut off, and other text counts as 0. */
export function toMinor(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  const digits = whole + fraction.padEnd(2, '0').slice(0, 2);
  return /^\d+$/.test(digits) ? BigInt(digits) : 0n;
}

/** Hundredths as a decimal with two digits. */
export function fromMinor(minor: bigint): string {
  const digits = minor.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** The fee of a transfer. For NGN three steps, tax included, hence three decimals at times; flat for ZAR. */
export function feeFor(currency: string, amount: string): string {
  if (currency !== 'NGN') return '6.50';
  const minor = toMinor(amount);
  if (minor <= 500_000n) return '10.75';
  return minor <= 5_000_000n ? '26.875' : '53.75';
}
