import { expect, it } from 'vitest';
import { plainNumbers } from '../../../src/core/domain/save-as.ts';
import { amountFinding } from '../../../src/core/domain/written-amount.ts';

const found = (text: string, currency: string): string | null => {
  const finding = amountFinding(text, currency);
  return finding && `${finding.problem}: ${finding.fix.replace(`; ${plainNumbers}`, '; (how to show it)')}`;
};

it.each([
  ['1500.50', 'NGN', null],
  ['1.500', 'KWD', null],
  ['1,500', 'NGN', 'has thousands separators: write 1500; (how to show it)'],
  ['1,500,000.50', 'NGN', 'has thousands separators: write 1500000.50; (how to show it)'],
  ['1,500.505', 'NGN', 'has thousands separators: write it with a point; (how to show it)'],
  ['1 500', 'NGN', 'has separators of thousands: write 1500; (how to show it)'],
  ["1'500.50", 'NGN', 'has separators of thousands: write 1500.50; (how to show it)'],
  ['1 500,50', 'NGN', 'has separators of thousands: write 1500.50; (how to show it)'],
  ['1500,50', 'NGN', 'has a decimal comma: write 1500.50; (how to show it)'],
  ['1500,505', 'NGN', 'has a decimal comma: write it with a point; (how to show it)'],
  ['1500,505', 'KWD', 'has a decimal comma: write 1500.505; (how to show it)'],
  ['1.500,50', 'NGN', 'has points between thousands and a decimal comma: write 1500.50; (how to show it)'],
  ['1.500.000', 'NGN', 'has points between thousands: write 1500000; (how to show it)'],
])('reads %s in %s only one way, or finds nothing wrong', (text, currency, finding) => {
  expect(found(text, currency)).toBe(finding);
});

it('names both readings where a group of three digits may be thousands or decimals', () => {
  expect(found('1,500', 'KWD')).toBe(
    'has a comma that may separate thousands or decimals: write 1500 or 1.500, whichever is meant; (how to show it)',
  );
  expect(found('1.500', 'NGN')).toBe(
    'expected a decimal with at most 2 digits after the point (NGN): write 1500 if the point separates thousands, else round it yourself',
  );
});

it('says of another text what is wrong with it as a plain decimal', () => {
  expect(found('abc', 'NGN')).toMatch(/^is not a plain decimal: write digits and at most one point/);
  expect(found('0.000', 'KWD')).toMatch(/^not above zero: remove the row/);
  expect(found('1 ,500', 'NGN')).toMatch(/^is not a plain decimal: /);
  expect(found('10.505', 'NGN')).toMatch(/: write 10505 if the point separates thousands/);
  expect(found('1000.505', 'NGN')).toMatch(/: round it yourself, for example 1500.00$/);
});

it('counts a currency that nobody knows as one with two digits', () => {
  expect(found('1,500', 'ABC')).toBe('has thousands separators: write 1500; (how to show it)');
  expect(found('1500', 'ABC')).toBe('its currency is not known: correct the currency first');
});
