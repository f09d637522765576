import { expect, it } from 'vitest';
import { pathText } from '../../../../src/faces/terminal/kit/file-lines.ts';
import { createInk } from '../../../../src/faces/terminal/kit/ink.ts';
import { closing, screenLines } from '../../../../src/faces/terminal/kit/screen.ts';
import { wrap } from '../../../../src/faces/terminal/kit/wrap.ts';
import { readable } from '../../../../src/words/readable.ts';

it('breaks a sentence between words, and further lines begin below it', () => {
  expect(wrap('  one two three four', 12)).toEqual(['  one two', '  three four']);
  expect(wrap('  one two three four', 12, 2)).toEqual(['  one two', '    three', '    four']);
  expect(wrap('ok     disk   much is free', 18, 14)).toEqual([
    'ok     disk   much',
    '              is',
    '              free',
  ]);
});

it('keeps a command and a path in one piece, since people copy them', () => {
  const line = 'then counterfoil settle PAY-1 --as paid --note "a letter" closes it, and much more';
  expect(wrap(line, 60)).toEqual([
    'then counterfoil settle PAY-1 --as paid --note "a letter"',
    'closes it, and much more',
  ]);
  const path = `/a/${'b'.repeat(90)}`;
  expect(wrap(`see ${path} there`, 40)).toEqual(['see', path, 'there']);
});

it('colours are as wide as nothing', () => {
  const { paint } = createInk('0123456789ab');
  const line = `${paint('bad', 'one')} ${paint('good', 'two')}`;
  expect(wrap(line, 7)).toEqual([line]);
});

it('a path is shown from the folder where the person stands, where that is shorter', () => {
  expect(pathText('/home/a', '/home/a/data/reports/index.html')).toBe('data/reports/index.html');
  expect(pathText('/home/a/b', '/home/a/november.csv')).toBe('../november.csv');
  expect(pathText('/home/a/very/deep/down', '/srv/x.csv')).toBe('/srv/x.csv');
});

it('a command ends with its files and the next one, below each other', () => {
  expect(closing({ Results: ['a.xlsx', 'b.xlsx'], Next: 'counterfoil reconcile' })).toEqual([
    'Results: a.xlsx',
    '         b.xlsx',
    'Next:    counterfoil reconcile',
  ]);
  expect(closing({ Results: [], Next: '' })).toEqual([]);
  const blocks = [['one'], [], ['two', 'three']];
  expect(screenLines({ blocks }, 80)).toEqual(['one', '', 'two', 'three']);
  expect(screenLines({ blocks: [['one']], end: { Next: 'x' } }, 80)).toEqual(['one', '', 'Next: x']);
});

it('a sentence of the ledger gets short times and grouped amounts, and keeps its names', () => {
  const time = (): string => '3 May 10:00';
  expect(readable('REF-20261101 since 2026-05-03T09:00:00.000Z: 51662.12, run 20261123T031826Z', time)).toBe(
    'REF-20261101 since 3 May 10:00: 51,662.12, run 20261123T031826Z',
  );
  expect(readable('expected -2156.50, found 10.00; 1234.5678 and v1234.56.7', time)).toBe(
    'expected −2,156.50, found 10.00; 1234.5678 and v1234.56.7',
  );
});
