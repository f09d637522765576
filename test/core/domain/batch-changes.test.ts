import { expect, it } from 'vitest';
import { batchChanges } from '../../../src/core/domain/batch-changes.ts';

it.each([
  [undefined, 'loading', []],
  ['loading', 'ready', ['taken']],
  [undefined, 'held', ['taken', 'held']],
  ['held', 'held', []],
  ['ready', 'held', ['held']],
  ['held', 'ready', ['released']],
  ['held', 'sending', ['released']],
  ['ready', 'sending', []],
  ['sending', 'sent', ['sent']],
  ['done', 'sent', []],
  ['sending', 'done', ['sent', 'done']],
  ['sent', 'done', ['done']],
  ['held', 'cancelled', ['cancelled']],
] as const)('from %s to %s a batch was %j', (before, now, changes) => {
  expect(batchChanges(before, now)).toEqual(changes);
});
