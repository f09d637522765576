import { expect, it } from 'vitest';
import { decimalDifference } from '../../../src/core/domain/discrepancy.ts';

it.each([
  ['1400.00', '1500.00', '-100.00'],
  ['1500.5', '1500', '0.5'],
  ['1500', '1500.50', '-0.50'],
  ['3', '1', '2'],
  ['53.750', '53.75', '0.000'],
  ['-0.00', '0', '0.00'],
  ['90071992547409931.01', '90071992547409931.00', '0.01'],
  ['free', '1', ''],
  ['1', 'free', ''],
  ['1', '1e3', ''],
])('%s less %s is "%s", exactly and with the longer fraction', (actual, expected, difference) => {
  expect(decimalDifference(actual, expected)).toBe(difference);
});
