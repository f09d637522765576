import { expect, it } from 'vitest';
import { isAskable, keptReference, storable } from '../../../src/core/domain/others-reference.ts';

it('makes a text storable only where it is not', () => {
  expect(storable('é 😀')).toBe('é 😀');
  expect(storable('a\0b\ud800')).toBe('a\ufffdb\ufffd');
  expect(storable('a\0')).toBe('a\ufffd');
});

it('keeps a reference of five hundred characters, and of a longer one four hundred with its digest', () => {
  expect(keptReference('x'.repeat(500))).toBe('x'.repeat(500));
  const [one, other] = ['a', 'b'].map((end) => keptReference(`${'x'.repeat(500)}${end}`));
  expect(one).toMatch(/^x{400}… 501 characters, sha256 [0-9a-f]{32}$/);
  expect(one).not.toBe(other);
});

it('asks about no reference that was changed, is empty, or means something in a path', () => {
  expect(['PAY-1', '...', 'a…'].filter(isAskable)).toEqual(['PAY-1', '...', 'a…']);
  const changed = [storable('a\0'), keptReference('x'.repeat(501))];
  expect([...changed, '', '.', '..'].filter(isAskable)).toEqual([]);
});
