import { expect, it } from 'vitest';
import { plainKind } from '../../../src/core/domain/plain-kind.ts';

it('writes a kind as words', () => {
  expect(plainKind('amount_conflict_again')).toBe('Amount conflict again');
});
