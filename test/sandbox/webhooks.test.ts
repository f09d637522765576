import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/sandbox/faults.ts';
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  scenarioNames,
} from '../../src/sandbox/sandbox.ts';
import { call, list, orderOf, pay, sign, startMerchant } from './harness.ts';

type Merchant = Awaited<ReturnType<typeof startMerchant>>;
let merchant: Merchant;
const stops: (() => Promise<void>)[] = [];
async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({
    settleMs: 10,
    webhookRetryMs: 5,
    webhookUrl: merchant.url,
    ...options,
  });
  stops.push(sandbox.stop);
  return sandbox;
}
beforeEach(async () => {
  merchant = await startMerchant();
  stops.push(() => merchant.stop());
});
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

describe('payout webhooks', () => {
  it('settle a payout and tell the merchant with all the headers', async () => {
    const sandbox = await start({ settleMs: 2000 });
    await pay(sandbox, orderOf('A-1'));
    expect(sandbox.book.find('A-1')[0]).toMatchObject({
      status: 'pending',
      moneyMoved: false,
      sessionid: null,
    });
    await sandbox.settleAll();
    const [heard] = merchant.heard;
    const { secretKey, publicKey } = sandbox.keys.test;
    expect(merchant.heard).toHaveLength(1);
    expect(heard?.headers).toMatchObject({
      payloadsignature: sign(secretKey, heard?.body ?? ''),
      merchantsignature: sign(secretKey, publicKey),
      timestamp: expect.stringMatching(/^\d{10}$/),
      'x-webhook-reference': 'A-1',
    });
    expect(heard?.headers.authorization).toBeUndefined();
    const booked = sandbox.book.find('A-1')[0];
    expect(booked).toMatchObject({ status: 'success', moneyMoved: true });
    expect(booked?.updated_at).not.toBe(booked?.created_at);
    expect(JSON.parse(heard?.body ?? '')).toMatchObject({
      status: '00',
      event: 'payout',
      reference: 'A-1',
      domain: 'test',
      statusMessage: 'success',
      note: null,
      timestamp: booked?.updated_at,
    });
  });

  it('carry the webhook key when one is configured, and take a base address for both modes', async () => {
    const test = {
      secretKey: 'sk_test_a',
      publicKey: 'pk_test_a',
      encryptionKey: 'enc_a',
      webhookKey: 'hook',
    };
    const sandbox = await start({ keys: { test }, webhookUrl: merchant.base });
    await pay(sandbox, orderOf('A-1'));
    await sandbox.idle();
    expect(merchant.heard[0]?.headers.authorization).toBe('Bearer hook');
    expect(merchant.heard[0]?.path).toBe('/webhooks/test');
  });

  it('are tried ten times at most, with the same body', async () => {
    const stubborn = await startMerchant(Array.from({ length: 20 }, () => 500));
    stops.push(() => stubborn.stop());
    const sandbox = await start({ webhookUrl: stubborn.url, webhookRetryMs: 1 });
    await pay(sandbox, orderOf('A-1'));
    await sandbox.settleAll();
    expect(stubborn.heard).toHaveLength(10);
    expect(new Set(stubborn.heard.map((heard) => heard.body)).size).toBe(1);
  });

  it.each<[Fault, string[]]>([
    ['fail', ['failed']],
    ['return', ['failed', 'success']],
    ['webhook_missing', []],
    ['webhook_never', []],
    ['webhook_doubled', ['success', 'success']],
    ['webhook_late', ['success']],
    ['webhook_forged', ['failed', 'success']],
    ['status_conflict', ['success']],
    ['duplicate', ['success', 'success']],
    ['never_settles', []],
  ])('on the fault %s tell %j', async (fault, expected) => {
    const sandbox = await start({ faults: { 'A-1': fault } });
    await pay(sandbox, orderOf('A-1'));
    await sandbox.settleAll();
    const told = merchant.heard.map((heard): string => JSON.parse(heard.body).statusMessage);
    expect(told.sort()).toEqual(expected);
  });

  it('show the truth of a return, a conflict and a doubled booking in the book', async () => {
    const sandbox = await start({ faults: { R: 'return', C: 'status_conflict', D: 'duplicate' } });
    for (const reference of ['R', 'C', 'D']) await pay(sandbox, orderOf(reference));
    await sandbox.settleAll();
    expect(sandbox.book.find('R')).toMatchObject([{ status: 'failed', moneyMoved: true, returned: true }]);
    expect(sandbox.book.find('C')).toMatchObject([{ status: 'failed', moneyMoved: false }]);
    expect(sandbox.book.moneyMoved('D')).toBe(2);
  });

  it('are forged with a signature that does not hold', async () => {
    const sandbox = await start({ faults: { 'A-1': 'webhook_forged' } });
    await pay(sandbox, orderOf('A-1'));
    await sandbox.settleAll();
    const valid = merchant.heard.filter(
      ({ headers, body }) => headers.payloadsignature === sign(sandbox.keys.test.secretKey, body),
    );
    expect(valid.map((heard): string => JSON.parse(heard.body).statusMessage)).toEqual(['success']);
  });

  it.each<[Fault, Record<string, string>]>([
    ['wrong_amount', { amount: '1501.00' }],
    ['wrong_fee', { fee: '99.99' }],
    ['wrong_currency', { currency: 'ZAR' }],
    ['wrong_account', { account_number: '0123456787' }],
    ['wrong_domain', { domain: 'live' }],
  ])('leave the fault %s to the lists', async (fault, shown) => {
    const sandbox = await start({ faults: { 'A-1': fault } });
    await pay(sandbox, orderOf('A-1'));
    const listed = await list(sandbox, 'fetch_all_transfers');
    expect(listed.data.data).toMatchObject([shown]);
  });
});

describe('resending', () => {
  it('sends a missing webhook on request, and none that never comes', async () => {
    const sandbox = await start({ faults: { 'A-1': 'webhook_missing', 'A-2': 'webhook_never' } });
    for (const reference of ['A-1', 'A-2']) await pay(sandbox, orderOf(reference));
    await sandbox.settleAll();
    for (const reference of ['A-1', 'A-2']) {
      expect((await call(sandbox, `resend_payout_webhook/${reference}`, 'POST')).status).toBe(200);
    }
    await sandbox.idle();
    expect(merchant.heard.map((heard) => heard.headers['x-webhook-reference'])).toEqual(['A-1']);
  });

  it('is throttled with 429 and Retry-After', async () => {
    const sandbox = await start({ resendsPerMinute: 1 });
    await call(sandbox, 'resend_payout_webhook/none', 'POST');
    const answer = await call(sandbox, 'resend_payout_webhook/none', 'POST');
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({ success: false });
  });

  it('says that no address is set, and that a reference is not known', async () => {
    const sandbox = await createSandbox();
    stops.push(sandbox.stop);
    expect(await (await call(sandbox, 'resend_payout_webhook/A-1', 'POST')).json()).toMatchObject({
      status: '06',
    });
    sandbox.setWebhookUrl(merchant.url);
    expect(await (await call(sandbox, 'resend_payout_webhook/A-1', 'POST')).json()).toMatchObject({
      status: '04',
    });
  });

  it('covers collections, which are told once and can be verified', async () => {
    const sandbox = await start();
    sandbox.book.addCollection({ reference: 'C-1', amount: '250.00' });
    await sandbox.idle();
    await call(sandbox, 'resend_transaction_webhook/C-1', 'POST');
    await sandbox.idle();
    expect(merchant.heard).toHaveLength(2);
    expect(JSON.parse(merchant.heard[0]?.body ?? '')).toMatchObject({
      event: 'transaction',
      data: { reference: 'C-1' },
    });
    const verified = await (await call(sandbox, 'transaction/verify/C-1')).json();
    expect(verified).toMatchObject({ status: '00', data: { reference: 'C-1', amount: '250.00' } });
    expect((await call(sandbox, 'transaction/verify/C-2')).status).toBe(404);
  });
});

describe('scenarios', () => {
  it('are refused by a message that names the known ones', async () => {
    await expect(createSandbox({ scenario: 'stormy' })).rejects.toThrow(
      /calm, lost-answers.*chaos.*"stormy"/,
    );
  });

  it.each(scenarioNames)('start by the name %s', async (scenario) => {
    const sandbox = await createSandbox({ scenario });
    stops.push(sandbox.stop);
    expect(sandbox.book.transfers()).toHaveLength(['stranger', 'chaos'].includes(scenario) ? 1 : 0);
  });

  it('strike the same references for the same seed', async () => {
    const failedOf = async (seed: number): Promise<string[]> => {
      const sandbox = await createSandbox({ scenario: 'failures', seed });
      stops.push(sandbox.stop);
      const references = Array.from({ length: 40 }, (_, index) => `S-${index}`);
      await Promise.all(references.map((reference) => pay(sandbox, orderOf(reference))));
      await sandbox.settleAll();
      return references.filter((reference) => sandbox.book.find(reference)[0]?.status === 'failed');
    };
    const [once, again, other] = [await failedOf(7), await failedOf(7), await failedOf(8)];
    expect(once.length).toBeGreaterThan(2);
    expect(again).toEqual(once);
    expect(other).not.toEqual(once);
  });
});
