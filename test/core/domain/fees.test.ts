import { expect, it } from 'vitest';
import { type Fees, isSameFee, nameFee, otherFees } from '../../../src/core/domain/fees.ts';
import type { RecordSource } from '../../../src/core/domain/payout.ts';

const unknown: Fees = { fee: null, fee_by: null, other_fees: null };
const named = (...said: [RecordSource, string | null][]): Fees =>
  said.reduce((known, [source, fee]) => nameFee(known, source, fee), unknown);

it('P30: fees are compared as exact decimals of their own scale', () => {
  expect(isSameFee('53.75', '53.750')).toBe(true);
  expect(isSameFee('53.75', '53.755')).toBe(false);
  expect(isSameFee('free', 'free')).toBe(true);
  expect(isSameFee('free', '0.00')).toBe(false);
});

it('an absent fee says nothing, and is no zero', () => {
  expect(named(['webhook', null])).toEqual(unknown);
  expect(named(['webhook', '53.75'], ['details', null])).toEqual(named(['webhook', '53.75']));
});

it('the first fee stays, with who named it; every other one is kept beside it', () => {
  const fees = named(['webhook', '53.75'], ['details', '99.99'], ['listing', '53.750']);
  expect(fees).toMatchObject({ fee: '53.75', fee_by: 'webhook+listing' });
  expect(otherFees(fees)).toEqual([{ source: 'details', fee: '99.99' }]);
});

it('two sources that name other fees are kept in the order of the sources, and each changes only its own', () => {
  const two = named(['response', '1.00'], ['details', '3.00'], ['webhook', '2.00']);
  expect(two.other_fees).toBe('{"webhook":"2.00","details":"3.00"}');
  expect(nameFee(two, 'details', '1.00').other_fees).toBe('{"webhook":"2.00"}');
});

it('a source that comes back to the first fee ends the difference', () => {
  expect(named(['listing', '1.00'], ['listing', '2.00']).other_fees).toBe('{"listing":"2.00"}');
  expect(named(['listing', '1.00'], ['listing', '2.00'], ['listing', '1.00']).other_fees).toBeNull();
});
