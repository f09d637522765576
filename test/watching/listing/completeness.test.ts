import { expect, it } from 'vitest';
import { isSound, makeComplete, type Pass } from '../../../src/watching/listing/completeness.ts';

const pass: Pass = {
  cut: '2026-11-21T12:00:00.000Z',
  total: 3,
  belowCut: 3,
  perPageChanged: false,
  trouble: null,
};

it('P28: a pass is sound only when ids below its cut number exactly the total, under one page size', () => {
  expect(isSound(pass)).toBe(true);
  expect(isSound({ ...pass, belowCut: 2 })).toBe(false);
  expect(isSound({ ...pass, belowCut: 4 })).toBe(false);
  expect(isSound({ ...pass, perPageChanged: true })).toBe(false);
  expect(isSound({ ...pass, trouble: 'page 2: 503' })).toBe(false);
});

it('P28: two sound passes make it complete only when they show the same ids', () => {
  const later = { ...pass, total: 4, belowCut: 4 };
  expect(makeComplete(pass, later, { later: 3, both: 3 })).toBe(true);
  expect(makeComplete(pass, later, { later: 4, both: 3 })).toBe(false);
  expect(makeComplete(pass, later, { later: 3, both: 2 })).toBe(false);
  expect(makeComplete({ ...pass, belowCut: 2 }, later, { later: 3, both: 3 })).toBe(false);
});
