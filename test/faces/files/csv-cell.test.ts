import { describe, expect, it } from 'vitest';
import { safeCell, unsplitCell } from '../../../src/core/domain/csv-cell.ts';

describe('cells of a CSV file', () => {
  it.each([
    '=1+1',
    '+1',
    '-5-5',
    '-5e3',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '﹦1',
    '﹢1',
    '  =1',
    '\u3000=1',
    '\u2003=1',
    '\u200b\u200d=1',
    '\u202e=1',
    '\u0000=1',
    ' \t=1',
  ])('neutralises the text %j with a single quote in front', (text) => {
    expect(safeCell(text)).toBe(`'${text}`);
  });

  it.each(['', 'Ada', 'a=b', '0123456789', ' plain', "'=1", '"=1'])('leaves the text %j alone', (text) => {
    expect(safeCell(text)).toBe(text);
  });

  it('leaves plain numbers alone, also negative ones, and neutralises everything else that opens with a sign', () => {
    expect(['-12.50', '100', '0.005'].map(safeCell)).toEqual(['-12.50', '100', '0.005']);
    expect(['-1+2', '=1', '-', '+5'].map(safeCell)).toEqual(["'-1+2", "'=1", "'-", "'+5"]);
  });

  it.each([
    ['pay;=1+1', "pay;'=1+1"],
    ['pay; "@SUM(A1)', 'pay; "\'@SUM(A1)'],
    ['pay\n-1', "pay\n'-1"],
    ['pay\u2028=1', "pay\u2028'=1"],
    ['pay\t+1;＝2', "pay\t'+1;'＝2"],
  ])('neutralises what a program would run that splits %j at another separator', (text, safe) => {
    expect(unsplitCell(text, ',')).toBe(safe);
  });

  it.each(["pay;'=1", 'a; b', 'pay,=1', 'pay, =1', '=1', 'a-b;c=d'])(
    'leaves %j alone, which no other separator opens',
    (text) => {
      expect(unsplitCell(text, ',')).toBe(text);
    },
  );

  it('takes no longer than the text is long', () => {
    const began = performance.now();
    unsplitCell('\n '.repeat(200_000), ',');
    safeCell(' '.repeat(400_000));
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
