import { expect, it } from 'vitest';
import {
  givenBackText,
  leftOutCollectionsText,
  leftOutJson,
  leftOutText,
} from '../../../src/core/domain/left-out.ts';

const one = { rows: 1, problemCount: 2, errorsFile: 'a.errors.csv', invalidFile: 'a.invalid.csv' };

it('says how many rows are left out, where their problems are, and what to do', () => {
  expect(leftOutText(one)).toBe(
    '1 row was left out: 2 problems, see a.errors.csv. To pay it, correct a.invalid.csv and submit that file',
  );
  expect(leftOutCollectionsText({ ...one, rows: 3, problemCount: 1 })).toBe(
    '3 rows were left out: 1 problem, see a.errors.csv. To expect them, correct a.invalid.csv and drop it in inbox/collections',
  );
});

it('names no file that could not be written', () => {
  const unwritten = { errorsFile: null, invalidFile: null };
  expect(leftOutText({ ...one, ...unwritten })).toBe('1 row was left out: 2 problems');
  expect(givenBackText({ ...one, errorsFile: null })).toMatch(/returned now: a\.invalid\.csv$/);
  expect(givenBackText(one)).toMatch(/: a\.invalid\.csv, their problems in a\.errors\.csv$/);
});

it('says in JSON that none was left out, or which', () => {
  expect(leftOutJson(null)).toEqual({ skipped: 0 });
  expect(leftOutJson({ ...one, problems: [] })).toEqual({
    ...{
      skipped: 1,
      problem_count: 2,
      problems: [],
      errors_file: 'a.errors.csv',
      invalid_file: 'a.invalid.csv',
    },
  });
});
