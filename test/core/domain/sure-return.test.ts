import { expect, it } from 'vitest';
import { judgeTurn } from '../../../src/core/domain/sure-return.ts';

const at = (hour: number, ms = 0): string => new Date(Date.UTC(2026, 10, 21, hour, 0, 0, ms)).toISOString();
const first = { ours: at(2), service: at(3) };

it('P36: a return is sure once both clocks went on for as long as asked', () => {
  expect(judgeTurn(null, first, 12)).toBe('first');
  expect(judgeTurn(first, first, 12)).toBe('wait');
  expect(judgeTurn(first, { ours: at(14), service: at(15) }, 12)).toBe('sure');
  expect(judgeTurn(first, { ours: at(14), service: at(14, 3_599_999) }, 12)).toBe('wait');
  expect(judgeTurn(first, { ours: at(13), service: at(23) }, 12)).toBe('wait');
});

it('P36: the wait begins again where either clock was set back', () => {
  expect(judgeTurn(first, { ours: at(1), service: at(23) }, 12)).toBe('first');
  expect(judgeTurn(first, { ours: at(23), service: at(2, 3_599_999) }, 12)).toBe('first');
  expect(judgeTurn(first, { ours: 'never', service: at(23) }, 12)).toBe('first');
});
