import { describe, expect, it } from 'vitest';
import {
  isZero,
  linesByCurrency,
  negated,
  paidAndReopened,
} from '../../../../src/books/statement/statement-figures.ts';

describe('the figures of the statement on the page', () => {
  it('takes a line off as its negative, also one that is negative itself', () => {
    expect(negated({ count: 2n, amount: '348750.00' })).toEqual({ count: -2n, amount: '-348750.00' });
    expect(negated({ count: 1n, amount: '-10.00' })).toEqual({ count: -1n, amount: '10.00' });
    expect(negated({ count: 0n, amount: '0.00' })).toEqual({ count: 0n, amount: '0.00' });
  });

  it('is zero only without count and amount', () => {
    expect(isZero({ count: 0n, amount: '0.00' })).toBe(true);
    expect(isZero({ count: 0n, amount: '-0.01' })).toBe(false);
    expect(isZero({ count: 2n, amount: '0.00' })).toBe(false);
  });

  it('names what makes the paid sum tie: paid, less returned, less paid and reopened, is net paid', () => {
    const lines = linesByCurrency([
      { currency: 'NGN', line: 'settled', count: '8', amount: '800.00' },
      { currency: 'NGN', line: 'returned', count: '1', amount: '100.00' },
      { currency: 'NGN', line: 'net_paid', count: '5', amount: '500.50' },
    ]);
    expect(paidAndReopened(lines.get('NGN') ?? {})).toEqual({ count: -2n, amount: '-199.50' });
    expect(paidAndReopened({})).toEqual({ count: 0n, amount: '0' });
  });
});
