import type { BankTransferRequest } from '../core/service/wire.ts';
import { isAmount } from './amounts.ts';
import type { RefusalCode } from './replies.ts';

export type Parameters = ReadonlyMap<string, unknown>;

/** A valid order, or why it is refused. */
export type ReadOrder =
  | { kind: 'order'; order: BankTransferRequest }
  | { kind: 'refused'; code: RefusalCode; message: string; reference?: string };

const currencies: ReadonlySet<string> = new Set(['NGN', 'ZAR']);

/** The members of a JSON object; undefined when the body is anything else. */
export function readParameters(body: Buffer): Parameters | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return new Map(Object.entries(value));
  } catch {
    return undefined;
  }
}

/** The merchant's reference, if the body has one. */
export function referenceOf(parameters: Parameters | undefined): string | undefined {
  const reference = parameters?.get('reference');
  return typeof reference === 'string' && reference !== '' ? reference : undefined;
}

/** Checks the parameters against the table of "Initiate a bank transfer"; each must be text and not empty. */
export function readOrder(parameters: Parameters): ReadOrder {
  const missing: string[] = [];
  const text = (name: string): string => {
    const value = parameters.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
    missing.push(name);
    return '';
  };
  const order: BankTransferRequest = {
    account_number: text('account_number'),
    account_name: text('account_name'),
    bank_code: text('bank_code'),
    amount: text('amount'),
    currency: text('currency'),
    sender_name: text('sender_name'),
    narration: text('narration'),
    reference: text('reference'),
  };
  const refuse = (code: RefusalCode, message: string): ReadOrder => ({
    kind: 'refused',
    code,
    message,
    ...(order.reference === '' ? {} : { reference: order.reference }),
  });
  if (missing.length > 0) return refuse('07', `Incomplete request: ${missing.join(', ')}`);
  if (!currencies.has(order.currency)) return refuse('07', 'Incomplete request: currency must be NGN or ZAR');
  if (!isAmount(order.amount)) return refuse('24', 'Invalid amount');
  const type = parameters.get('type');
  if (type === undefined) return { kind: 'order', order };
  if (order.currency !== 'ZAR') return refuse('07', 'Incomplete request: type is for ZAR only');
  if (type !== 'EFT' && type !== 'RTC') return refuse('07', 'Incomplete request: type must be EFT or RTC');
  return { kind: 'order', order: { ...order, type } };
}
