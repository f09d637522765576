import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { orderOf, pay, sign } from './harness.ts';

type Vectors = { bank_transfer: { name: string; key: string; body: string; signature: string }[] };
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/vectors/signatures.json', import.meta.url), 'utf8'),
);

const started: Sandbox[] = [];
async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ settleMs: 10, ...options });
  started.push(sandbox);
  return sandbox;
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
});

const vectorKeys = {
  secretKey: 'sk_test_vector_key',
  publicKey: 'pk_test_vector_key',
  encryptionKey: 'enc_test_vector_key',
};

describe('initiating a bank transfer', () => {
  it('answers pending with a transfer id as text and echoes the reference', async () => {
    const sandbox = await start();
    const answer = await pay(sandbox, orderOf('A-1'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('date')).not.toBeNull();
    const booked = sandbox.book.find('A-1');
    expect(booked).toHaveLength(1);
    expect(await answer.json()).toEqual({
      success: true,
      status: '00',
      message: expect.any(String),
      data: { transfer_id: String(booked[0]?.id), reference: 'A-1', status: 'pending' },
    });
  });

  it.each(vectors.bank_transfer)('takes the known answer "$name"', async ({ body, signature }) => {
    const sandbox = await start({ keys: { test: vectorKeys }, strictSignature: true });
    const answer = await pay(sandbox, {}, { body, signature });
    expect(await answer.json()).toMatchObject({ success: true, status: '00' });
  });

  it('takes the encryption key as a Bearer and the secret key as the key of the signature', async () => {
    const sandbox = await start();
    const body = JSON.stringify(orderOf('A-1'));
    const { secretKey, encryptionKey } = sandbox.keys.test;
    const answer = await pay(sandbox, {}, { body, bearer: encryptionKey, signature: sign(secretKey, body) });
    expect(answer.status).toBe(200);
  });

  it.each([
    ['in another order', JSON.stringify({ reference: 'A-1', ...orderOf('A-1') })],
    ['with a slash and letters that are not escaped', JSON.stringify(orderOf('A-1', { narration: 'É/1' }))],
    ['with spaces', JSON.stringify(orderOf('A-1'), null, 2)],
  ])('takes a body %s that is signed as it is, unless both readings must hold', async (_what, body) => {
    expect((await pay(await start(), {}, { body })).status).toBe(200);
    const strict = await start({ strictSignature: true });
    expect(await (await pay(strict, {}, { body })).json()).toMatchObject({ success: false, status: '22' });
    expect(strict.book.transfers()).toHaveLength(0);
  });

  it('takes a signature over the sorted parameters of a body that is not sorted', async () => {
    const sandbox = await start();
    const body = JSON.stringify({ reference: 'A-1', ...orderOf('A-1') });
    const signature = sign(sandbox.keys.test.encryptionKey, JSON.stringify(orderOf('A-1')));
    expect((await pay(sandbox, {}, { body, signature })).status).toBe(200);
  });

  it.each([
    ['a foreign signature', orderOf('A-1'), { signature: sign('x', 'y') }, 400, '22'],
    ['an unknown key', orderOf('A-1'), { bearer: 'sk_test_nobody' }, 401, '18'],
    ['an amount of zero', orderOf('A-1', { amount: '0.00' }), {}, 400, '24'],
    ['an amount with three decimals', orderOf('A-1', { amount: '1.005' }), {}, 400, '24'],
    ['a missing name', orderOf('A-1', { account_name: '' }), {}, 400, '07'],
    ['a type for NGN', orderOf('A-1', { type: 'EFT' }), {}, 400, '07'],
    ['a body that is no JSON', {}, { body: '[1]' }, 400, '07'],
  ])('refuses %s and books nothing', async (_what, order, parts, status, code) => {
    const sandbox = await start();
    const answer = await pay(sandbox, order, parts);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ success: false, status: code });
    expect(sandbox.book.transfers()).toHaveLength(0);
    expect(sandbox.requests.posts).toBe(1);
  });

  it.each([
    ['refuse', 400, 1],
    ['conflict', 409, 1],
    ['accept', 200, 2],
  ] as const)('on duplicates "%s" answers %i and moves money %i times', async (duplicates, status, moved) => {
    const sandbox = await start({ duplicates });
    await pay(sandbox, orderOf('A-1'));
    expect((await pay(sandbox, orderOf('A-1'))).status).toBe(status);
    await sandbox.settleAll();
    expect(sandbox.book.moneyMoved('A-1')).toBe(moved);
    expect(sandbox.requests.bodies('A-1')).toBe(2);
  });
});

describe('faults of the answer', () => {
  it.each([
    ['lost_answer', 1],
    ['lost_before', 0],
  ] as const)('%s breaks the connection with %i transfer booked', async (fault, booked) => {
    const sandbox = await start({ faults: { 'A-1': fault } });
    await expect(pay(sandbox, orderOf('A-1'))).rejects.toThrow();
    expect(sandbox.book.find('A-1')).toHaveLength(booked);
    expect(sandbox.requests.bodies('A-1')).toBe(1);
  });

  it.each([
    ['error_500_after', 500, 1],
    ['error_500_before', 500, 0],
    ['html_502', 502, 0],
    ['edge_429_once', 429, 0],
  ] as const)(
    '%s answers %i without the envelope, with %i transfer booked',
    async (fault, status, booked) => {
      const sandbox = await start({ faults: { 'A-1': fault } });
      const answer = await pay(sandbox, orderOf('A-1'));
      expect(answer.status).toBe(status);
      expect(await answer.text()).toContain('<html>');
      expect(sandbox.book.find('A-1')).toHaveLength(booked);
    },
  );

  it('asks to wait once and then takes the payout', async () => {
    const sandbox = await start({ faults: { 'A-1': 'rate_limited_once' } });
    const first = await pay(sandbox, orderOf('A-1'));
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '1']);
    const body = await first.json();
    expect(body).toMatchObject({ success: false, message: 'Too many requests' });
    expect(body, 'that is: out of service').not.toMatchObject({ status: '11' });
    expect((await pay(sandbox, orderOf('A-1'))).status).toBe(200);
  });

  it('answers code 11 when it is out of service', async () => {
    const sandbox = await start({ faults: { 'A-1': 'out_of_service' } });
    const answer = await pay(sandbox, orderOf('A-1'));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ status: '11', message: 'Out of service' });
    expect(sandbox.book.find('A-1')).toEqual([]);
    expect((await pay(sandbox, orderOf('A-1'))).status).toBe(200);
  });

  it('accepts a payout that vanishes, and no money moves for it', async () => {
    const sandbox = await start({ faults: { 'A-1': 'vanish' } });
    expect((await pay(sandbox, orderOf('A-1'))).status).toBe(200);
    await sandbox.settleAll();
    expect(sandbox.book.moneyMoved('A-1')).toBe(0);
    expect(sandbox.book.find('A-1')).toEqual([]);
  });

  it('stops at once while a client still waits for an answer that never comes', async () => {
    const sandbox = await start({ faults: { 'A-1': 'hang' } });
    const answer = pay(sandbox, orderOf('A-1')).catch(() => 'broken');
    while (sandbox.requests.posts === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await sandbox.stop();
    expect(await answer).toBe('broken');
  });
});
