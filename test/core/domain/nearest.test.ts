import { expect, it } from 'vitest';
import { likely, nearest } from '../../../src/core/domain/nearest.ts';

const known = ['reconcile', 'status', 'ok', 'november-20261121-3f9a1c'];

it.each([
  ['statsu', 'status', 2],
  ['stats', 'status', 1],
  ['statuses', 'status', 2],
  ['STATUS', 'status', 0],
  ['recncile', 'reconcile', 1],
  ['xreconcile', 'reconcile', 1],
  ['k', 'ok', 1],
  ['', 'ok', 2],
])('of the known names the nearest to "%s" is %s, %i letters away', (name, nearby, far) => {
  expect(nearest(name, known)).toEqual({ name: nearby, far });
});

it('no name is near where none is known', () => {
  expect([nearest('status', []), likely('status', [])]).toEqual([undefined, undefined]);
});

it.each([
  ['statsu', 'status', 'two slips'],
  ['ok!', 'ok', 'one slip in a short name'],
  ['okay', 'ok', 'two slips in four letters'],
  ['stxxus', 'status', 'two wrong letters'],
  ['rec', 'reconcile', 'its beginning'],
  ['NOV', 'november-20261121-3f9a1c', 'its beginning in capitals'],
  ['novmber-2026', 'november-20261121-3f9a1c', 'a beginning with a slip'],
  ['novmbr', 'november-20261121-3f9a1c', 'six letters of a beginning with two slips'],
])('"%s" most likely means %s: %s', (name, meant) => {
  expect(likely(name, known)).toBe(meant);
});

it.each([
  ['', 'it says nothing'],
  ['k', 'one letter of two'],
  ['abc', 'two letters of three'],
  ['rxcon', 'a misspelt beginning of five letters'],
  ['novxxbxr', 'three wrong letters'],
  ['zzzzzzzz', 'nothing like it'],
])('"%s" means none of them: %s', (name) => {
  expect(likely(name, known)).toBeUndefined();
});
