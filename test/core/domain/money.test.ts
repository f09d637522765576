import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalToMinor, exponentOf, formatMinor, parseAmount } from '../../../src/core/domain/money.ts';

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
    expect(problemOf('1.5E+06')).toContain('scientific notation');
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
    expect(problemOf('10.5', 'JPY')).toContain('whole number');
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

  it('knows the currencies of ISO 4217 and no others', () => {
    expect([exponentOf('NGN'), exponentOf('ZAR'), exponentOf('JPY'), exponentOf('KWD')]).toEqual([
      2, 2, 0, 3,
    ]);
    expect([exponentOf('ngn'), exponentOf('ABC'), exponentOf('')]).toEqual([undefined, undefined, undefined]);
  });
});
