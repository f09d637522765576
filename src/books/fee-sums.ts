import { Big } from 'big.js';
import { exponentOf } from '../core/domain/money.ts';

/** So many digits a fee may have after the point. */
const digits = 30;

/**
 * A fee as the service wrote it, an exact decimal, in units that add up without rounding; null for what is no decimal.
 */
export function feeUnits(fee: string | null): bigint | null {
  if (fee === null || !/^\d{1,30}(\.\d{1,30})?$/.test(fee)) return null;
  const [whole = '', fraction = ''] = fee.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

/** Added fees with the digits of the currency. Exact until here: they are rounded only when shown (P30). */
export function feeText(units: bigint, currency: string): string {
  return Big(`${units}e-${digits}`).toFixed(exponentOf(currency) ?? 2, Big.roundHalfUp);
}
