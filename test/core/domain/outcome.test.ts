import { expect, it } from 'vitest';
import {
  attemptOutcomes,
  countPossiblyTaken,
  countSends,
  lacksTransfers,
  mayHaveBeenTaken,
} from '../../../src/core/domain/outcome.ts';

const attempts = [...attemptOutcomes, null].map((outcome) => ({ outcome }));

it('P4: an attempt may have been taken unless it was refused, not sent or turned away', () => {
  expect([...attemptOutcomes, null].filter(mayHaveBeenTaken)).toEqual(['accepted', 'unknown', null]);
});

it('P7, P25: counts as a send what is not proven not sent, and what a lost copy sent', () => {
  expect(countSends(attempts, 0n)).toBe(5);
  expect(countSends(attempts, 2n)).toBe(7);
});

it('P17, P25: counts what the service may have taken, and what a lost copy sent', () => {
  expect(countPossiblyTaken(attempts, 0n)).toBe(3);
  expect(countPossiblyTaken(attempts, 2n)).toBe(5);
});

it('P17: of several sends, or where some were forgotten, a list must show as many transfers as may be there', () => {
  const lacks = (possiblyTaken: number, transfers?: number, forgotten = false): boolean =>
    lacksTransfers({ possiblyTaken, forgotten }, { transfers });
  expect([lacks(1), lacks(2), lacks(2, 1), lacks(2, 2)]).toEqual([false, true, true, false]);
  expect([lacks(1, undefined, true), lacks(1, 1, true), lacks(0, undefined, true)]).toEqual([
    true,
    false,
    false,
  ]);
});
