import { expect, it } from 'vitest';
import { brakeWords } from '../../../src/words/results/result-words.ts';

const held = { kind: 'held', batch: 'november', moved: 3, underWay: { sending: 2 } } as const;

it('a page says how many payouts a hold no longer reaches', () => {
  expect(brakeWords({ ...held, ended: false })).toEqual({
    title: 'november: 3 payouts held',
    lines: ['2 payouts were being sent already, and go on.'],
  });
  expect(brakeWords({ kind: 'held_all', sending: 0 }).lines).toEqual(['Nothing was being sent.']);
});

it('a page does not call a batch held whose hold a release has ended', () => {
  expect(brakeWords({ ...held, ended: true })).toMatchObject({ title: 'november is not held', undone: true });
});
