import { expect, it } from 'vitest';
import { classOf, textOf } from '../../../src/core/service/codes.ts';

it('P10: each known code has its class, and every other code is unknown', () => {
  const told = (list: string[]): Set<string> => new Set(list.map((code) => classOf(code, {})));
  expect(told(['00'])).toEqual(new Set(['accepted']));
  expect(told(['01', '02', '07', '24', '25'])).toEqual(new Set(['refused']));
  expect(told(['10', '13', '15', '16', '17', '18', '19', '20', '21', '22', '23'])).toEqual(new Set(['halt']));
  expect(told(['03', '04', '05', '06', '09', '11', '12', '96', '98', '99', '100'])).toEqual(
    new Set(['unknown']),
  );
  expect(told(['14', '77', '', '0', '1', 'XX'])).toEqual(new Set(['unknown']));
});

it('P10: a code that happens to be named like a method of every object is unknown too', () => {
  expect(['toString', '__proto__', 'constructor'].map((code) => classOf(code, {}))).toEqual(
    Array(3).fill('unknown'),
  );
});

it('P10: an override wins over the table, and a code has words for people', () => {
  expect(classOf('24', { '24': 'halt' })).toBe('halt');
  expect(textOf('24')).toBe('invalid amount');
  expect(textOf('77')).toBe('code 77');
});
