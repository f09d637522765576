import { expect, it } from 'vitest';
import {
  judgeResends,
  longestSpacingMs,
  resendBudget,
  resendSpacingMs,
} from '../../../src/core/domain/resend-budget.ts';

const minute = 60_000;
const at = (hour: number, minutes = 0): string =>
  new Date(Date.UTC(2026, 10, 21, hour, minutes)).toISOString();
const asked = (hour: number) => ({ asked_at: at(hour), due_at: at(hour), outcome: 'asked' });
const open = (hour: number) => ({ asked_at: null, due_at: at(hour), outcome: null });

it('waits ten minutes, an hour, then six hours between the three requests of one webhook', () => {
  expect(resendBudget).toBe(3);
  expect([0, 1, 2, 3, 4].map(resendSpacingMs)).toEqual(
    [10, 10, 60, 360, 360].map((minutes) => minutes * minute),
  );
  expect(longestSpacingMs).toBe(360 * minute);
});

it('a webhook counts as heard when it came after the first request', () => {
  expect(judgeResends([asked(1), asked(2)], at(1), at(9))).toEqual({ kind: 'heard', made: 2, at: at(1) });
  expect(judgeResends([asked(2)], at(1), at(9))).toEqual({ kind: 'never_asked' });
  expect(judgeResends([], at(1), at(9))).toEqual({ kind: 'never_asked' });
  expect(judgeResends([open(3)], at(1), at(2))).toEqual({ kind: 'waiting', made: 0, dueAt: at(3) });
});

it('waits for the next request, for an answer to the last, and gives up after the third', () => {
  const three = [asked(1), asked(2), asked(3)];
  expect(judgeResends([], null, at(9))).toEqual({ kind: 'never_asked' });
  expect(judgeResends([asked(1), open(3)], null, at(2))).toEqual({ kind: 'waiting', made: 1, dueAt: at(3) });
  expect(judgeResends([asked(1)], null, at(9))).toEqual({ kind: 'asked', made: 1, at: at(1) });
  const unanswered = { ...asked(1), outcome: null };
  expect(judgeResends([unanswered], null, at(2))).toEqual({ kind: 'asked', made: 1, at: at(1) });
  expect(judgeResends(three, null, at(8, 59))).toEqual({ kind: 'asked', made: 3, at: at(3) });
  expect(judgeResends(three, null, at(9))).toEqual({ kind: 'gave_up', made: 3, at: at(3) });
  expect(judgeResends([...three, open(4)], null, at(4))).toEqual({ kind: 'asked', made: 3, at: at(3) });
});

it('a request that was dropped is neither open nor made', () => {
  const dropped = { asked_at: null, due_at: at(1), outcome: 'dropped' };
  expect(judgeResends([dropped], null, at(9))).toEqual({ kind: 'never_asked' });
});
