import { afterEach, beforeEach, expect, it } from 'vitest';
import { readAccountName, readBalances } from '../../../src/core/service/extras.ts';
import { parseLossless } from '../../../src/core/service/json.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { call, orderOf, pay } from '../../sandbox/harness.ts';
import { clientOf } from '../../sending/setting.ts';

let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  sandbox = await createSandbox({ settleMs: 100_000 });
  client = clientOf(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
});

const balances = (data: string): Record<string, bigint> | string => {
  const read = readBalances(parseLossless(`{"success":"true","data":${data}}`));
  return typeof read === 'string' ? read : Object.fromEntries(read.minor);
};

it.each([
  ['{"NGN":"1500.00","ZAR":7}', { NGN: 150_000n, ZAR: 700n }],
  ['{"currency":"NGN","balance":1500.5}', { NGN: 150_050n }],
  ['[{"currency":"NGN","balance":"9","available_balance":"8.999"}]', { NGN: 899n }],
  ['{"wallets":[{"currency":"NGN","balance":"-0.001"}]}', { NGN: -1n }],
  ['{"balances":[{"currency":"JPY","balance":"12"}]}', { JPY: 12n }],
  ['{"NGN":"99999999999999999999999999.99"}', { NGN: 2n ** 63n - 1n }],
  ['{"balance":"900","wallets":[{"currency":"NGN","balance":"5"}]}', { NGN: 500n }],
])('reads the balance %s', (data, minor) => {
  expect(balances(data)).toEqual(minor);
});

it.each([
  ['{"balance":"1500.00","pending":"20.00"}', '1500.00'],
  ['{"balance":1500.5,"pending":0}', '1500.5'],
  ['{"available_balance":"8.999","balance":"9"}', '8.999'],
])('reads the balance %s, whose currency the service does not name', (data, unnamed) => {
  const read = readBalances(parseLossless(`{"success":true,"data":${data}}`));
  expect(read).toEqual({ kind: 'balances', minor: new Map(), unnamed });
});

it.each([
  '"1500.00"',
  '{"balance":"1,500.00","pending":"0"}',
  '{"balance":{"NGN":"1"},"pending":"0"}',
  '{"pending":"20.00"}',
  '{"balance":"900","NGN":"5"}',
  'null',
  '[]',
  '{}',
  '{"amount":"1500.00"}',
  '{"NGN":"1,500.00"}',
  '{"NGN":"1e9"}',
  '{"NGN":null}',
  '{"ngn":"1"}',
  '{"NGN":{"balance":"1"}}',
  '[{"balance":"1"}]',
  '[{"currency":"NGN","balance":"1"},{"currency":"NGN","balance":"2"}]',
  '[{"currency":"NGN","balance":"1"},7]',
])('takes nothing for a balance from %s', (data) => {
  expect(balances(data)).toEqual(expect.any(String));
});

it.each([
  ['{"success":true,"data":" ADA  OBI "}', { name: 'ADA OBI' }],
  ['{"success":"true","data":{"account_name":"ADA OBI"}}', { name: 'ADA OBI' }],
  ['{"success":true,"data":"ADA\\u202eOBI"}', { name: 'ADA<U+202E>OBI' }],
  ['{"success":false,"message":"no such account"}', { name: null, message: 'no such account' }],
  ['{"success":"false"}', { name: null, message: '' }],
  ['{"success":true,"data":""}', { name: null }],
  ['{"success":true,"data":["ADA"]}', 'no name in a known shape'],
  ['{"data":"ADA OBI"}', 'no name'],
  ['"ADA OBI"', 'no JSON object'],
])('reads the name answer %s', (text, expected) => {
  const read = readAccountName(parseLossless(text));
  if (typeof expected === 'string') expect(read).toBe(expected);
  else expect(read).toMatchObject(expected);
});

it('asks the wallet and an account over HTTP, and says why an answer is of no use', async () => {
  sandbox.extras.names.set('0123456789', 'ADA OBI');
  const account = { bankCode: '000013', accountNumber: '0123456789' };
  expect(await client.accountName('account_name', account)).toMatchObject({ kind: 'name', name: 'ADA OBI' });
  expect(await client.accountName('account_name', { ...account, accountNumber: '1' })).toMatchObject({
    name: null,
    message: 'Account not found',
  });
  await pay(sandbox, orderOf('R-1'));
  const told = await client.walletBalance('wallet_balance');
  expect(told.kind === 'balances' && told.minor.get('NGN')).toBe(99_999_850_000n);
  expect(await client.walletBalance('no_such_path')).toMatchObject({ reason: 'not_understood' });
  for (const [fault, reason] of [
    ['unreadable', 'not_understood'],
    ['refused', 'not_understood'],
    ['error_500', 'server_error'],
    ['page_502', 'server_error'],
    ['throttled_once', 'throttled'],
    ['cut_once', 'unreachable'],
  ] as const) {
    sandbox.extras.faults.set('wallet_balance', fault);
    expect(await client.walletBalance('wallet_balance'), fault).toMatchObject({ kind: 'trouble', reason });
  }
  sandbox.extras.faults.clear();
  expect(await client.walletBalance('wallet_balance')).toMatchObject({ kind: 'balances' });
});

it('the sandbox learns names and balances from a person who tries it', async () => {
  const tell = async (facts: Record<string, string>): Promise<number> => {
    const authorization = `Bearer ${sandbox.keys.test.secretKey}`;
    const body = JSON.stringify(facts);
    return (await fetch(`${sandbox.url}/sandbox/facts`, { method: 'POST', headers: { authorization }, body }))
      .status;
  };
  expect(await tell({ account_number: '0123456789', account_name: 'ADA OBI' })).toBe(200);
  expect(await tell({ currency: 'NGN', balance: '12.50' })).toBe(200);
  expect(await tell({ currency: 'NGN' })).toBe(400);
  expect((await call(sandbox, 'wallet_balance', 'GET', 'sk_test_wrong')).status).toBe(401);
  expect(await (await call(sandbox, 'wallet_balance')).json()).toMatchObject({
    data: [{ currency: 'NGN', balance: '12.50' }, { currency: 'ZAR' }],
  });
});
