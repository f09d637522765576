import { expect, it } from 'vitest';
import { haltText } from '../../src/commands/describe.ts';
import { haltAdvice, haltKindOf, haltKinds, readHaltKinds } from '../../src/sending/halt.ts';

const at = '2026-11-21T10:00:00.000Z';

it('P11: the advice comes from what halted, not from the words of the service', () => {
  const cause = 'the service answered 13 (unknown merchant answered 22) to R-1';
  expect(haltText({ at, cause, kinds: [haltKindOf('13')] })).toBe(
    `since ${at}: ${cause}. When the cause is gone: counterfoil release --mode`,
  );
  expect(haltText({ at, cause: 'x', kinds: [haltKindOf('22')] })).toContain('First counterfoil doctor');
  expect(haltText({ at, cause: 'x', kinds: ['unknowns'] })).toContain('First counterfoil reconcile');
  const barrier = haltText({ at, cause: 'it was moved', kinds: ['barrier'] });
  expect(barrier, 'a barrier names its own way out').toBe(`since ${at}: it was moved.`);
});

it('of several causes the most urgent gives the advice', () => {
  expect(haltAdvice(['person', 'canary_open', 'signature'])).toBe('doctor');
  expect(haltAdvice(['canary_failed', 'canary_open'])).toBe('reconcile');
  expect(haltAdvice(['person', 'account', 'canary_failed'])).toBe('none');
});

it('kinds are read as they were written', () => {
  expect(readHaltKinds(haltKinds.join(' '))).toEqual(haltKinds);
});
