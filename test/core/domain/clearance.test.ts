import { expect, it } from 'vitest';
import { type ClearanceSubject, judgeClearance } from '../../../src/core/domain/clearance.ts';
import { accountOf, isOfAccount } from '../../../src/core/domain/origin.ts';

const went = { baseUrl: 'https://one.test', secretKey: 'a', orderKey: 'a' };
const itself = (more: Partial<ClearanceSubject> = {}): ClearanceSubject => ({
  reference: 'R-1',
  state: 'ready',
  answer: { word: 'not_found', status: null },
  elsewhere: null,
  ...more,
});
const before = (more: Partial<ClearanceSubject> = {}): ClearanceSubject =>
  itself({ state: 'failed', answer: { word: 'found', status: 'failed' }, ...more });
const notFound = { word: 'not_found', status: null } as const;
const silence = { word: 'no_answer', status: null } as const;

it.each([
  ['nothing is found of it', itself(), [], 'clear'],
  ['nobody answers', itself({ answer: silence }), [], 'waits'],
  ['the service shows it', itself({ answer: { word: 'found', status: 'pending' } }), [], 'shown'],
  ['it shows another under its name', itself({ answer: { word: 'found', status: null } }), [], 'shown'],
  [
    'nothing is found of it, but what it repeats was paid',
    itself(),
    [before(), before({ answer: { word: 'found', status: 'success' } })],
    'shown',
  ],
  ['another account was asked', itself({ elsewhere: went }), [], 'elsewhere'],
  ['what failed still has', null, [before()], 'clear'],
  ['what failed was paid', null, [before({ answer: { word: 'found', status: 'success' } })], 'shown'],
  ['what failed goes on', null, [before({ answer: { word: 'found', status: 'pending' } })], 'shown'],
  ['what failed is gone', null, [before({ answer: notFound })], 'lost'],
  ['nobody answers about what failed', null, [before({ answer: silence })], 'waits'],
  ['a refused one was never there', null, [before({ state: 'refused', answer: notFound })], 'clear'],
  [
    'a refused one is asked about elsewhere',
    null,
    [before({ state: 'refused', answer: notFound, elsewhere: went })],
    'elsewhere',
  ],
  ['a cancelled one was never there', null, [before({ state: 'cancelled', answer: notFound })], 'clear'],
  ['a cancelled one is there all the same', null, [before({ state: 'cancelled' })], 'shown'],
  ['a shown failure proves its account', null, [before({ elsewhere: went })], 'clear'],
  [
    'a returned one still is',
    null,
    [before({ state: 'returned', answer: { word: 'found', status: 'returned' } })],
    'clear',
  ],
  [
    'what came back was kept after all',
    null,
    [before({ state: 'returned', answer: { word: 'found', status: 'success' } })],
    'shown',
  ],
  [
    'a failed one is called returned',
    null,
    [before({ answer: { word: 'found', status: 'returned' } })],
    'shown',
  ],
  [
    'it was sent too, and is shown',
    itself({ answer: { word: 'found', status: 'failed' } }),
    [before()],
    'shown',
  ],
  ['one of a line is silent', null, [before(), before({ answer: silence })], 'waits'],
  [
    'one of a line is silent and another was paid',
    null,
    [before({ answer: silence }), before({ answer: { word: 'found', status: 'success' } })],
    'shown',
  ],
] as const)('P31: %s', (_, own, line, told) => {
  const clearance = judgeClearance(own, line);
  expect(clearance.kind === 'against' ? clearance.because : clearance.kind).toBe(told);
});

it('P31: an account is an address and its keys; while one is rotated both are the account', () => {
  const account = (baseUrl: string, secretKeys: string[], encryptionKeys: string[] = [], orders = 'secret') =>
    accountOf(baseUrl, { secretKeys, encryptionKeys }, orders === 'secret' ? 'secret' : 'encryption');
  const old = account('https://one.test/', ['sk_1']);
  if (!old) throw new Error('no account');
  const sees = (...given: Parameters<typeof account>): boolean => {
    const asked = account(...given);
    return asked !== null && isOfAccount(old.own, asked);
  };
  expect(sees('https://one.test', ['sk_1'])).toBe(true);
  expect(sees('https://one.test', ['sk_2', 'sk_1'])).toBe(true);
  expect(sees('https://one.test', ['sk_2'])).toBe(false);
  expect(sees('https://two.test', ['sk_1'])).toBe(false);
  expect(sees('https://one.test', ['sk_1'], ['ek_1'], 'encryption'), 'the other key orders now').toBe(true);
  expect(account('https://one.test', [])).toBeNull();
  expect(JSON.stringify(old)).not.toContain('sk_1');
  const byEncryption = account('https://one.test', ['sk_1'], ['ek_1'], 'encryption');
  const otherOrders = account('https://one.test', ['sk_1'], ['ek_2'], 'encryption');
  expect(byEncryption && otherOrders && isOfAccount(byEncryption.own, otherOrders)).toBe(false);
});
