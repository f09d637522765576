import { expect, it } from 'vitest';
import { ActionNeeded, reasonIn } from '../../../src/core/domain/advice.ts';

it('says why, then what to do, which a colon joins where it names a place', () => {
  const say = (): string => 'do it';
  expect(reasonIn({ why: 'no ledger', advice: null }, say)).toBe('no ledger');
  expect(reasonIn({ why: 'no ledger', advice: { kind: 'init' } }, say)).toBe('no ledger; do it');
  expect(reasonIn({ why: 'it moved', advice: { kind: 'follow_move', mark: 'm' } }, say)).toBe(
    'it moved: do it',
  );
  expect(reasonIn({ why: 'sealed', advice: { kind: 'replace_sealed', path: 'p' } }, say)).toBe(
    'sealed: do it',
  );
});

it('stops with a message, what helps, and the cause', () => {
  const cause = new Error('why');
  const stopped = new ActionNeeded('no ledger', { kind: 'init' }, { cause });
  expect([stopped.message, stopped.advice, stopped.cause]).toEqual(['no ledger', { kind: 'init' }, cause]);
});
