import { describe, expect, it } from 'vitest';
import { numberCell, textCell } from '../../src/domain/csv-cell.ts';

describe('cells of a CSV file', () => {
  it.each([
    '=1+1',
    '+1',
    '-5',
    '@SUM(A1)',
    '\tx',
    '\rx',
    '\nx',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '  =1',
    '\u3000=1',
    ' \t=1',
  ])('neutralises the text %j with a single quote in front', (text) => {
    expect(textCell(text)).toBe(`'${text}`);
  });

  it.each(['', 'Ada', 'a=b', '0123456789', ' plain', "'=1"])('leaves the text %j alone', (text) => {
    expect(textCell(text)).toBe(text);
  });

  it('leaves plain numbers in a number column and neutralises everything else there', () => {
    expect(['-12.50', '100', '0.005'].map(numberCell)).toEqual(['-12.50', '100', '0.005']);
    expect(['-1+2', '=1', '-', '+5'].map(numberCell)).toEqual(["'-1+2", "'=1", "'-", "'+5"]);
  });
});
