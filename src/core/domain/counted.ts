/** `1234567.50` as `1,234,567.50`; text that is not a plain decimal stays as it is. */
export function grouped(decimal: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(decimal);
  if (!match) return decimal;
  const [, sign = '', whole = '', fraction = ''] = match;
  return `${sign === '-' ? '−' : ''}${whole.replaceAll(/\B(?=(\d{3})+$)/g, ',')}${fraction}`;
}

/** `NGN 1,572,715.00`; without an unknown currency. `decimal`: a plain decimal with the currency's digits. */
export function amountText(currency: string, decimal: string): string {
  return `${currency} ${grouped(decimal)}`.trim();
}

/** `1 payout`, `2 payouts`, `4,120 payouts`. */
export function counted(count: number | bigint, one: string, many = `${one}s`): string {
  return `${grouped(count.toString())} ${count.toString() === '1' ? one : many}`;
}
