import { expect, it } from 'vitest';
import { problemSentence, wholeFile } from '../../../src/core/domain/problem.ts';

it.each([
  [{ row: 14, column: 'amount', value: '1,5' }, 'row 14, column amount: "1,5" is odd; mend it'],
  [{ row: 14, column: '', value: '' }, 'row 14: is odd; mend it'],
  [{ row: 1, column: '', value: '' }, 'row 1: is odd; mend it'],
  [{ row: 0, column: 'amount', value: '' }, 'column amount: is odd; mend it'],
])('says where a problem is, as far as it has a place: %j', (place, sentence) => {
  expect(problemSentence({ ...place, problem: 'is odd', fix: 'mend it' })).toBe(sentence);
});

it('names no place in a problem of the whole file', () => {
  expect(problemSentence(wholeFile('is odd', 'mend it'))).toBe('is odd; mend it');
});
