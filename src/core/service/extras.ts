import { visible } from '../domain/hidden.ts';
import { exponentOf } from '../domain/money.ts';
import { asObject, asText } from './json.ts';
import type { AccountName, Balances } from './types.ts';

/** A name or a message is cut at this length: it is shown to people. */
const mostCharacters = 120;
/** The ledger's largest amount; a larger balance is as good as this one. */
const mostMinor = 2n ** 63n - 1n;

/**
 * Reads the answer about the wallet's balance. Its shape is in no document. Accepted are a map of currencies to decimals,
 * and objects with `currency` and `available_balance` or `balance`: one, a list, or a list under `wallets` or `balances`.
 * One object without `currency` is the balance of a service with a single wallet; its `pending` is not counted.
 * Returns why the answer cannot be used otherwise: nothing is guessed.
 */
export function readBalances(json: unknown): Balances | string {
  const body = asObject(json);
  if (!body || !isSuccess(body)) return refusalText(body, 'no balance');
  const unnamed = unnamedIn(asObject(body.data));
  if (unnamed !== null) return { kind: 'balances', minor: new Map(), unnamed };
  const minor = new Map<string, bigint>();
  for (const [currency, text] of entriesOf(body.data)) {
    const amount = typeof currency === 'string' ? balanceMinor(text, currency) : null;
    if (typeof currency !== 'string' || amount === null)
      return 'a balance without a currency or a plain amount';
    if (minor.has(currency)) return `two balances in ${currency}`;
    minor.set(currency, amount);
  }
  return minor.size === 0 ? 'no balance in a known shape' : { kind: 'balances', minor, unnamed: null };
}

/** Reads the answer about an account's holder: `{success, data: NAME}`, or `{success: false, message}`. */
export function readAccountName(json: unknown): AccountName | string {
  const body = asObject(json);
  if (!body) return 'no JSON object';
  const message = shown(asText(body.message) ?? '');
  if (isSuccess(body)) {
    const name = asText(body.data) ?? asText(asObject(body.data)?.account_name);
    if (name === null) return 'no name in a known shape';
    return { kind: 'name', name: shown(name) || null, message };
  }
  return isFlag(body.success, false) ? { kind: 'name', name: null, message } : refusalText(body, 'no name');
}

function entriesOf(data: unknown): [currency: unknown, text: unknown][] {
  const object = asObject(data);
  const list = Array.isArray(data) ? data : (object?.wallets ?? object?.balances);
  const rows: unknown[] = Array.isArray(list) ? list : object && 'currency' in object ? [object] : [];
  if (rows.length === 0 && object) return Object.entries(object);
  return rows.map((row) => {
    const { currency, available_balance, balance } = asObject(row) ?? {};
    return [currency, available_balance ?? balance];
  });
}

const decimal = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/;

/** The balance of one object that names no currency; null where there is none in plain digits, or beside named ones. */
function unnamedIn(data: Record<string, unknown> | undefined): string | null {
  if (!data || 'currency' in data || Array.isArray(data.wallets ?? data.balances)) return null;
  if (Object.keys(data).some((key) => exponentOf(key) !== undefined)) return null;
  const text = asText(data.available_balance ?? data.balance)?.trim() ?? '';
  return decimal.test(text) ? text : null;
}

/** Reads a balance in minor units, rounded down to the currency's digits: services keep fractions of a kobo. */
export function balanceMinor(text: unknown, currency: string): bigint | null {
  const digits = exponentOf(currency);
  const match = decimal.exec(asText(text)?.trim() ?? '');
  if (digits === undefined || !match) return null;
  const [, sign, whole = '', fraction = ''] = match;
  const size = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  if (sign !== '-') return size < mostMinor ? size : mostMinor;
  return -(size + 1n) > -mostMinor ? -(size + 1n) : -mostMinor;
}

function isSuccess(body: Record<string, unknown>): boolean {
  return isFlag(body.success, true);
}

/** The service writes truth as `true` and as `"true"`. */
function isFlag(value: unknown, flag: boolean): boolean {
  return value === flag || value === String(flag);
}

function refusalText(body: Record<string, unknown> | undefined, what: string): string {
  const message = shown(asText(body?.message) ?? '');
  return message === '' ? what : `${what}: ${message}`;
}

function shown(text: string): string {
  return Array.from(visible(text.trim().replaceAll(/\s+/g, ' ')))
    .slice(0, mostCharacters)
    .join('');
}
