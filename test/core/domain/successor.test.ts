import { expect, it } from 'vitest';
import { isReference } from '../../../src/core/domain/ids.ts';
import { rootsNamedBy, successorCells, successorReference } from '../../../src/core/domain/successor-name.ts';

const free = (): boolean => false;

it('P20: a chain of successors counts up under the reference it began with', () => {
  expect(successorReference({ root: 'PAY-1', number: 2 }, '', free)).toBe('PAY-1-R2');
  expect(successorReference({ root: 'PAY-1', number: 3 }, '', free)).toBe('PAY-1-R3');
});

it('P22: a long root is cut and marked, so that two roots that begin alike stay apart', () => {
  const roots = [`${'A'.repeat(49)}1`, `${'A'.repeat(49)}2`];
  const made = roots.map((root) => successorReference({ root, number: 2 }, 'AAA', free));
  expect(new Set(made).size).toBe(2);
  for (const reference of made) {
    expect(reference).toHaveLength(50);
    expect(isReference(reference)).toBe(true);
    expect(reference).toMatch(/^AAA.*-[0-9a-f]{6}-R2$/);
  }
  expect(made).toEqual(roots.map((root) => successorReference({ root, number: 2 }, 'AAA', free)));
});

it('P22: a reference that is taken, whatever its case, is passed over', () => {
  const taken = (key: string): boolean => key === 'pay-1-r2';
  expect(successorReference({ root: 'PAY-1', number: 2 }, '', taken)).toMatch(/^PAY-1-[0-9a-f]{6}-R2$/);
});

it('P22: gives up once a hundred references are taken', () => {
  const asked = new Set<string>();
  const taken = (key: string): boolean => asked.add(key).size > 0;
  expect(() => successorReference({ root: 'PAY-1', number: 2 }, '', taken)).toThrow(/no free reference/);
  expect(asked.size).toBe(100);
});

it('P22: leaves a root whole while its successor has at most fifty characters', () => {
  const longest = 'A'.repeat(47);
  expect(successorReference({ root: longest, number: 2 }, '', free)).toBe(`${longest}-R2`);
  expect(successorReference({ root: `${longest}A`, number: 2 }, '', free)).toMatch(/^A{40}-[0-9a-f]{6}-R2$/);
});

it('P22: makes no reference that is none', () => {
  expect(() => successorReference({ root: 'é', number: 2 }, '', free)).toThrow(/no reference can be made/);
});

it('P20: a reference names the roots that it may succeed, with and without the prefix', () => {
  expect(rootsNamedBy('PAY-1', '')).toEqual([]);
  expect(rootsNamedBy('PAY-1-R2', '')).toEqual(['PAY-1']);
  expect(rootsNamedBy('PAY-1-3f9a1c-R10', '')).toEqual(['PAY-1-3f9a1c', 'PAY-1']);
  expect(rootsNamedBy('ACME-1-R2', 'ACME-')).toEqual(['ACME-1', '1']);
  expect(rootsNamedBy('OLDER-1-R2', 'ACME-')).toEqual(['OLDER-1']);
  expect(rootsNamedBy('ACME--R2', 'ACME-')).toEqual(['ACME-']);
});

it('keeps the configured prefix, also where the root lacks it', () => {
  expect(successorReference({ root: 'ACME-1', number: 2 }, 'ACME-', free)).toBe('ACME-1-R2');
  expect(successorReference({ root: 'OLD-1', number: 2 }, 'ACME-', free)).toBe('ACME-OLD-1-R2');
  expect(() => successorReference({ root: 'X', number: 2 }, 'P'.repeat(50), free)).toThrow(/too long/);
});

it('replaces only the cell of the reference column, however its header is written', () => {
  expect(successorCells(['Amount', ' Reference '], ['1', 'A-1'], 'A-1-R2')).toEqual(['1', 'A-1-R2']);
  expect(successorCells(['amount'], ['1'], 'A-1-R2')).toEqual(['1']);
});
