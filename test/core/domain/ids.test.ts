import { expect, it } from 'vitest';
import { batchId, batchName, generatedReference, isReference } from '../../../src/core/domain/ids.ts';

it('takes as a reference only what P22 allows', () => {
  for (const good of ['A', '9', 'a_b-c', 'x'.repeat(50)]) expect(isReference(good), good).toBe(true);
  for (const bad of ['', '-a', '_a', 'a b', 'a.b', 'é', 'x'.repeat(51), 'a\n'])
    expect(isReference(bad), bad).toBe(false);
});

it('names a batch after file, UTC day and content hash', () => {
  expect(batchId('November.csv', '2026-11-21T23:59:59.000Z', '3f9a1cffff')).toBe('november-20261121-3f9a1c');
});

it('makes a harmless name of a hostile one', () => {
  expect(batchName('../../etc/pass wd.csv')).toBe('pass-wd');
  expect(batchName('Salário Março.CSV')).toBe('salario-marco');
  expect(batchName('"; rm -rf ~.csv')).toBe('rm-rf');
  expect(batchName('.csv')).toBe('batch');
  expect(batchName(`${'a'.repeat(300)}.csv`)).toHaveLength(40);
});

it('P22: generates a reference from the prefix, eight digits of the content hash, and the row', () => {
  expect(generatedReference('ACME-', '3f9a1cff00', 12)).toBe('ACME-3f9a1cff-12');
});

it('makes references that hold to P22 for the longest prefix and the last row', () => {
  expect(isReference(generatedReference('P'.repeat(30), 'f'.repeat(64), 1_000_001))).toBe(true);
});
