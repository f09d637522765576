import { decimalDifference } from '../../core/domain/discrepancy.ts';
import type { NamedCells } from '../sheet.ts';

/** A line of the statement: how many, and a plain decimal in the statement's currency. */
export type Figure = { count: bigint; amount: string };
/** The lines of one currency by their names in statement.csv. */
export type CurrencyLines = Record<string, Figure>;

export function linesByCurrency(rows: readonly NamedCells[]): Map<string, CurrencyLines> {
  const found = new Map<string, CurrencyLines>();
  for (const { currency = '', line = '', count = '0', amount = '0' } of rows)
    found.set(currency, { ...found.get(currency), [line]: { count: BigInt(count), amount } });
  return found;
}

/** A line by name; zero where the statement has none. */
export function lineOf(lines: CurrencyLines, name: string): Figure {
  return lines[name] ?? { count: 0n, amount: '0' };
}

export function isZero({ count, amount }: Figure): boolean {
  return count === 0n && !/[1-9]/.test(amount);
}

/** The same line taken off instead of added. */
export function negated({ count, amount }: Figure): Figure {
  return { count: -count, amount: minus('0', amount) };
}

/** Taken off `net_paid` besides what was returned: paid once, and reopened since. */
export function paidAndReopened(lines: CurrencyLines): Figure {
  const [settled, returned, net] = ['settled', 'returned', 'net_paid'].map((name) => lineOf(lines, name));
  if (!settled || !returned || !net) return { count: 0n, amount: '0' };
  return {
    count: net.count - settled.count + returned.count,
    amount: minus(minus(net.amount, settled.amount), minus('0', returned.amount)),
  };
}

/** `a` less `b`; a line that only counts has no amount. */
export function minus(a: string, b: string): string {
  return decimalDifference(a || '0', b || '0');
}
