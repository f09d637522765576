import { expect, it } from 'vitest';
import { amountText, counted, grouped } from '../../../src/core/domain/counted.ts';

it('groups the thousands of a decimal, and leaves other text', () => {
  expect(['1234567.50', '-1234.5678', '999', 'abc'].map(grouped)).toEqual([
    ...['1,234,567.50', '−1,234.5678', '999', 'abc'],
  ]);
  expect([amountText('NGN', '1500.00'), amountText('', '1500.00')]).toEqual(['NGN 1,500.00', '1,500.00']);
});

it('counts one and many', () => {
  expect([counted(1, 'payout'), counted(0n, 'payout'), counted(4120n, 'entry', 'entries')]).toEqual([
    ...['1 payout', '0 payouts', '4,120 entries'],
  ]);
});
