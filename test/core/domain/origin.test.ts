import { expect, it } from 'vitest';
import {
  accountOf,
  accountOfKey,
  isKnownAs,
  isOfAccount,
  originText,
  whyElsewhere,
} from '../../../src/core/domain/origin.ts';

const keys = { secretKeys: ['sk_1', 'sk_2'], encryptionKeys: ['ek_1'] };

it('P31: orders go with the first key of the kind that is configured for them', () => {
  const bySecret = accountOf('https://pay.test//', keys, 'secret');
  expect(bySecret?.own.secretKey).toMatch(/^[0-9a-f]{12}$/);
  expect(bySecret?.own.baseUrl).toBe('https://pay.test');
  expect(bySecret?.own.orderKey).toBe(bySecret?.own.secretKey);
  expect(accountOf('https://pay.test', keys, 'encryption')?.own.orderKey).toBe(bySecret?.orderKeys[2]);
  const without = accountOf('https://pay.test', { ...keys, encryptionKeys: [] }, 'encryption');
  expect(without?.own.orderKey).toBe(bySecret?.own.secretKey);
});

it('P31: a key that is not of the account speaks for itself alone', () => {
  const account = {
    own: { baseUrl: 'a', secretKey: '1', orderKey: '1' },
    secretKeys: ['1', '2'],
    orderKeys: ['1'],
  };
  expect([accountOfKey(account, null), accountOfKey(account, '2')]).toEqual([account, account]);
  expect(accountOfKey(account, '3').secretKeys).toEqual(['3']);
});

it('P31: an account must have both keys of an order', () => {
  const account = accountOf('https://pay.test', keys, 'secret');
  if (account === null) throw new Error('no account');
  const { own } = account;
  expect(isOfAccount(own, account)).toBe(true);
  expect(isOfAccount({ ...own, secretKey: 'another' }, account)).toBe(false);
  expect(isOfAccount({ ...own, orderKey: 'another' }, account)).toBe(false);
  expect(isOfAccount({ ...own, baseUrl: 'https://two.test' }, account)).toBe(false);
});

it('P31: says where an attempt went, with the key of its order where that is another', () => {
  const went = { baseUrl: 'https://one.test', secretKey: 's1', orderKey: 's1' };
  const own = { baseUrl: 'https://two.test', secretKey: 's2', orderKey: 's2' };
  expect(originText(went)).toBe('https://one.test with key s1');
  expect(whyElsewhere(went, { own })).toMatch(
    /^the earlier attempt went to https:\/\/one\.test with key s1; this configuration asks https:\/\/two\.test with key s2,/,
  );
  expect(whyElsewhere({ ...went, orderKey: 'e1' }, { own })).toContain('with key s1 (ordered with key e1);');
});

it.each([
  ['response', { transferId: '7', trx: null }, true],
  ['response', { transferId: '8', trx: 'T' }, true],
  ['webhook+listing', { transferId: '7', trx: 'X' }, true],
  ['response', { transferId: '8', trx: 'X' }, false],
  ['response', { transferId: null, trx: null }, false],
  ['webhook', { transferId: '7', trx: 'T' }, false],
  ['', { transferId: '7', trx: 'T' }, false],
])('P31: a payout known by "%s" is the transfer %j: %s', (evidence, transfer, isIt) => {
  expect(isKnownAs({ transferId: '7', trx: 'T', evidence }, transfer)).toBe(isIt);
});

it('P31: a payout without ids is no transfer', () => {
  const unknown = { transferId: null, trx: null, evidence: 'response' };
  expect(isKnownAs(unknown, { transferId: null, trx: null })).toBe(false);
});
