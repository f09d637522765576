import { expect, it } from 'vitest';
import { createBanks } from '../../../src/core/domain/banks.ts';

const banks = createBanks([
  { code: '000013', name: 'GTBank', aliases: ['GTB', '013'] },
  { code: '044', name: 'Access Bank', aliases: [] },
  { code: '090405', name: 'Moniepoint', aliases: [] },
]);

it('knows the codes of the list and the names of their banks', () => {
  expect([banks.has('044'), banks.has('058')]).toEqual([true, false]);
  expect([banks.nameOf('044'), banks.nameOf('058')]).toEqual(['Access Bank', undefined]);
});

it.each([
  ['GTB', 'GTBank', 'another name of the list for it'],
  ['058', 'GTBank', 'the usual three digits of a bank with six'],
  ['000014', 'Access Bank', 'the usual six digits of a bank with three'],
  ['44', 'Access Bank', 'a code of three digits that lost its zero'],
  ['13', 'GTBank', 'six digits, or another name, that lost their zeros'],
  ['14', 'Access Bank', 'the usual six digits that lost their zeros'],
  ['90405', 'Moniepoint', 'six digits that lost one zero'],
  ['044', 'Access Bank', 'a code of the list itself'],
])('takes %s for %s: %s', (code, name) => {
  expect(banks.meant(code)?.name).toBe(name);
});

it('takes nothing else for a bank', () => {
  expect(['999', '', 'x44', '0000000044'].map((code) => banks.meant(code))).toEqual(Array(4).fill(undefined));
});
