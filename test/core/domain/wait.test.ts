import { expect, it } from 'vitest';
import { later, remainingMs } from '../../../src/core/domain/wait.ts';

it('a wait ends when it was to end, and is never below zero', () => {
  const stamp = { untilMs: 100, notedMs: 40 };
  expect([40, 60, 100, 200].map((now) => remainingMs(stamp, now))).toEqual([60, 40, 0, 0]);
});

it('P33: a clock that was set back prolongs no wait beyond what it was', () => {
  expect(remainingMs({ untilMs: 100, notedMs: 40 }, 10)).toBe(60);
});

it('moves an instant forward and back', () => {
  const at = '2026-11-21T12:00:00.000Z';
  expect([later(at, 1500), later(at, -1500)]).toEqual([
    ...['2026-11-21T12:00:01.500Z', '2026-11-21T11:59:58.500Z'],
  ]);
});
