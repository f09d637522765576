import { expect, it } from 'vitest';
import { checkExpectation, type collectionColumns } from '../../../src/core/domain/collection-rules.ts';

type Cells = Partial<Record<(typeof collectionColumns)[number], string>>;
const good = { reference: 'INV-1', amount: '1500.50', currency: 'NGN' };
const problems = (cells: Cells): string[] => {
  const checked = checkExpectation((column) => cells[column]);
  return checked.kind === 'ok' ? ['ok'] : checked.problems.map((one) => `${one.column}: ${one.problem}`);
};

it('reads an expected collection; its reference needs no prefix', () => {
  expect(checkExpectation((column) => good[column])).toEqual({
    kind: 'ok',
    row: { reference: 'INV-1', amount: 150_050n, currency: 'NGN' },
  });
});

it.each<[string, Cells, string[]]>([
  ['an empty reference', { reference: '' }, ['reference: is empty']],
  [
    'a blank in a reference',
    { reference: 'INV 1' },
    ['reference: expected letters, digits, _ and -, beginning with a letter or digit'],
  ],
  ['an unknown currency, once', { currency: 'ABC' }, ['currency: is not a currency of ISO 4217']],
  [
    'separators in an unknown currency',
    { currency: 'ABC', amount: '1,000' },
    ['amount: has thousands separators', 'currency: is not a currency of ISO 4217'],
  ],
  ['an amount of zero', { amount: '0' }, ['amount: not above zero']],
  [
    'a comma in dinars',
    { currency: 'KWD', amount: '1,000' },
    ['amount: has a comma that may separate thousands or decimals'],
  ],
])('says what is wrong with %s', (_, change, said) => {
  expect(problems({ ...good, ...change })).toEqual(said);
});

it('takes no row with a hidden character in its amount, which another check names', () => {
  expect(problems({ ...good, amount: '15\u200b00' })).toEqual([]);
  expect(problems({ ...good, reference: 'INV\u200b-1' })).toEqual(['ok']);
});

it('leaves a missing column to the check of the header', () => {
  expect(problems({ reference: 'INV-1', currency: 'NGN' })).toEqual([]);
  expect(problems({ reference: 'INV-1', amount: '5' })).toEqual([]);
  expect(checkExpectation((column) => ({ amount: '5', currency: 'NGN' })[column as 'amount'])).toMatchObject({
    row: { reference: '' },
  });
});
