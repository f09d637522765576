import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimalToMinor,
  exponentOf,
  formatMinor,
  isAboveLimit,
  parseAmount,
} from '../../../src/core/domain/money.ts';

const problemOf = (text: string, currency = 'NGN'): string => {
  const parsed = parseAmount(text, currency);
  return parsed.kind === 'problem' ? `${parsed.problem}; ${parsed.fix}` : `ok ${parsed.minor}`;
};

describe('money', () => {
  it('formats with exactly the digits of the currency', () => {
    expect(formatMinor(5n, 'NGN')).toBe('0.05');
    expect(formatMinor(150_000n, 'ZAR')).toBe('1500.00');
    expect(formatMinor(1500n, 'JPY')).toBe('1500');
    expect(formatMinor(-1234n, 'KWD')).toBe('-1.234');
    expect(formatMinor(0n, 'NGN')).toBe('0.00');
    expect(() => formatMinor(1n, 'ABC')).toThrow('no such currency: ABC');
  });

  it('reads back what it formats, for every amount that a ledger can hold', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 17n - 1n }), (minor) => {
        expect(parseAmount(formatMinor(minor, 'NGN'), 'NGN')).toEqual({ kind: 'ok', minor });
        expect(decimalToMinor(formatMinor(-minor, 'NGN'), 'NGN')).toBe(-minor);
      }),
    );
  });

  it('names the mended amount when a person wrote separators', () => {
    expect(problemOf('1,000.50')).toBe('has thousands separators; write 1000.50');
    expect(problemOf('1000,50')).toBe('has a decimal comma; write 1000.50');
    expect(problemOf('1000,505')).toBe('has a decimal comma; write it with a point, for example 1500.00');
    expect(problemOf('1.5E+06')).toContain('scientific notation');
    expect(problemOf('+5')).toContain('has a sign');
    expect(problemOf('5,0', 'JPY')).toMatch(/for example 1500$/);
    expect(problemOf('5', 'ABC')).toContain('its currency is not known');
  });

  it('refuses signs, zero, too many digits and words', () => {
    for (const text of [
      '-5',
      '+5',
      '0',
      '0.00',
      '1.234',
      '.5',
      '5.',
      'NaN',
      '',
      ' 5',
      '0x10',
      '１００',
      '1e3',
    ]) {
      expect(problemOf(text), text).not.toMatch(/^ok/);
    }
    expect(problemOf('1234567890123456')).toContain('15 digits');
    expect(problemOf('0000001234567890')).toBe('ok 123456789000');
    expect(problemOf(`${'0'.repeat(39)}1`)).toBe('ok 100');
    expect(problemOf(`${'0'.repeat(40)}1`)).toContain('15 digits');
    expect(problemOf('10.5', 'JPY')).toContain('expected a whole number (JPY)');
    expect(problemOf('10.505')).toContain('a decimal with at most 2 digits after the point (NGN)');
    expect(problemOf('999999999999999.99')).toBe('ok 99999999999999999');
  });

  it('reads what a service shows only when it is exact', () => {
    expect(['1500', '1500.0', '1500.000'].map((text) => decimalToMinor(text, 'NGN'))).toEqual([
      150_000n,
      150_000n,
      150_000n,
    ]);
    expect(decimalToMinor('1500.001', 'NGN')).toBeNull();
    expect(decimalToMinor('1,500', 'NGN')).toBeNull();
    expect(decimalToMinor('1500', 'ABC')).toBeNull();
  });

  it('takes nothing larger than the ledger can hold', () => {
    expect(problemOf('922337203685477.5807', 'CLF')).toBe(`ok ${2n ** 63n - 1n}`);
    expect(problemOf('922337203685477.5808', 'CLF')).toContain('larger than the ledger can hold');
    expect(decimalToMinor('92233720368547758.07', 'NGN')).toBe(2n ** 63n - 1n);
    expect(decimalToMinor('92233720368547758.08', 'NGN')).toBeNull();
  });

  it('is above a limit from the next minor unit on, and never without a limit', () => {
    const limits = { NGN: '1500.00' };
    const above = (amount: bigint, currency = 'NGN'): boolean => isAboveLimit(amount, currency, limits);
    expect([above(150_000n), above(150_001n), above(150_001n, 'ZAR')]).toEqual([false, true, false]);
    expect(isAboveLimit(1n, 'NGN', { NGN: '0' }), 'a limit of zero lets nothing pass').toBe(true);
  });

  it('knows the currencies of ISO 4217 and no others', () => {
    expect([exponentOf('NGN'), exponentOf('ZAR'), exponentOf('JPY'), exponentOf('KWD')]).toEqual([
      2, 2, 0, 3,
    ]);
    expect([exponentOf('ngn'), exponentOf('ABC'), exponentOf('')]).toEqual([undefined, undefined, undefined]);
  });
});
