import { expect, it } from 'vitest';
import { progressText } from '../../../src/core/domain/progress.ts';

it('counts as sent what is neither waiting nor in doubt, and names the rest', () => {
  expect(progressText({ success: 3, failed: 1, sending: 1, ready: 2 })).toBe('5 sent, 2 waiting');
  expect(progressText({ pending: 4, ready: 2, held: 1, unknown: 5, cancelled: 7 })).toBe(
    '4 sent, 2 waiting, 1 held, 5 unknown, 7 cancelled',
  );
  expect(progressText({})).toBe('0 sent, 0 waiting');
});
