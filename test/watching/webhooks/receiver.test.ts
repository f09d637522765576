import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import type { Config } from '../../../src/core/settings/settings.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { createReceiver, type Receiver } from '../../../src/watching/webhooks/receiver.ts';
import { countRejections } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { receiverSettings } from '../../support/receiver.ts';

const key = 'sk_test_vector_key';
const vectors: { webhook: { raw_body: string; payloadsignature: string }[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/vectors/signatures.json', import.meta.url), 'utf8'),
);
const modeKeys = {
  secretKeys: [key],
  publicKeys: ['pk_test_1'],
  encryptionKeys: [],
  webhookKeys: [] as string[],
};
const clock = systemClock();
const sign = (message: string): string => createHmac('sha512', key).update(message).digest('hex');

let dir = '';
let ledger: Ledger;
let receiver: Receiver | undefined;
let url = '';
const stored: bigint[] = [];

const start = async (
  over: { receiver?: Partial<Config['receiver']>; keys?: Config['keys']; requestTimeoutMs?: number } = {},
): Promise<void> => {
  receiver = createReceiver({
    config: {
      mode: 'test',
      receiver: { ...receiverSettings, ...over.receiver },
      keys: over.keys ?? { test: modeKeys },
    },
    ledger,
    clock,
    log: pino({ level: 'silent' }),
    onStored: (ids) => void stored.push(...ids),
    ...(over.requestTimeoutMs !== undefined && { requestTimeoutMs: over.requestTimeoutMs }),
  });
  url = (await receiver.listen()).url;
};
const post = (
  body: string,
  headers: Record<string, string> = {},
  path = '/webhooks/test',
): Promise<Response> =>
  fetch(`${url}${path}`, { method: 'POST', body, headers: { payloadsignature: sign(body), ...headers } });
const webhooks = () => ledger.db.selectFrom('webhooks').selectAll().orderBy('id').execute();
const payout = '{"event":"payout","reference":"A-1","trx":"T1"}';

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-receiver-'));
  ledger = await openLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
  stored.length = 0;
});
afterEach(async () => {
  await receiver?.close();
  receiver = undefined;
  await ledger.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('what is taken', () => {
  it('answers 200 success as plain text once the delivery is durable, for every known vector', async () => {
    await start();
    for (const { raw_body, payloadsignature } of vectors.webhook) {
      const reply = await post(raw_body, { payloadsignature });
      expect([reply.status, reply.headers.get('content-type'), await reply.text()]).toEqual([
        200,
        'text/plain',
        'success',
      ]);
    }
    const rows = await webhooks();
    expect(rows.map((row) => Buffer.from(row.body).toString())).toEqual(
      vectors.webhook.map((vector) => vector.raw_body),
    );
    expect(rows.map((row) => [row.kind, row.reference])).toEqual([
      ['payout', 'ACME-0001'],
      ['transaction', 'C-1'],
      ['unknown', null],
      ['unknown', null],
    ]);
    expect(stored).toEqual(rows.map((row) => row.id));
  });

  it('P18: makes byte-equal repeats one webhook heard several times, also within one commit', async () => {
    await start();
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(payout)));
    expect(replies.every((reply) => reply.status === 200)).toBe(true);
    expect((await webhooks()).map((row) => row.deliveries)).toEqual([20n]);
  });

  it('P18: knows a repeat that names no reference, in a later commit as well', async () => {
    await start();
    for (let time = 0; time < 3; time++) await post('{"event":"something new"}');
    expect((await webhooks()).map((row) => [row.reference, row.deliveries])).toEqual([[null, 3n]]);
  });

  it('keeps the digits of a numeric id and accepts the event name collection', async () => {
    await start();
    await post('{"event":"collection","data":{"reference":9007199254740993,"trx":"X"}}');
    expect((await webhooks())[0]).toMatchObject({
      kind: 'transaction',
      reference: '9007199254740993',
      trx: 'X',
    });
  });

  it.each(['text/plain', 'nonsense', 'application/json; charset=latin9', ''])(
    'takes signed bytes whatever the content type: %j',
    async (type) => {
      await start();
      expect((await post(payout, { 'content-type': type })).status).toBe(200);
    },
  );

  it('stores the headers with the verdict in place of Authorization', async () => {
    await start({ keys: { test: { ...modeKeys, webhookKeys: ['hook-secret'] } } });
    expect(
      (await post(payout, { authorization: 'Bearer hook-secret', 'x-webhook-reference': 'A-1' })).status,
    ).toBe(200);
    const headers = (await webhooks())[0]?.headers ?? '';
    expect(JSON.parse(headers)).toMatchObject({
      authorization: 'valid',
      'x-webhook-reference': 'A-1',
      'source-address': '127.0.0.1',
      'x-webhook-signed-with': expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(headers).not.toContain('hook-secret');
  });

  it('stores a stale, future or unreadable timestamp as a reason to ask, in seconds, milliseconds and ISO', async () => {
    await start();
    const now = clock.now();
    const cases: [string, bigint][] = [
      [String(Math.floor(now / 1000)), 0n],
      [String(now), 0n],
      [new Date(now).toISOString(), 0n],
      [new Date(now + 3_600_000).toISOString().slice(0, 19).replace('T', ' '), 0n],
      [String(Math.floor(now / 1000) - 301), 1n],
      [String(now + 302_000), 1n],
      ['2020-01-01T00:00:00.000000Z', 1n],
      ['yesterday', 1n],
    ];
    for (const [index, [timestamp]] of cases.entries())
      expect((await post(`{"n":${index}}`, { timestamp })).status).toBe(200);
    expect((await webhooks()).map((row) => row.stale)).toEqual(cases.map(([, stale]) => stale));
  });

  it('lets a fresh delivery turn a stale one into a witness, and never the other way round', async () => {
    await start();
    await post(payout, { timestamp: '1' });
    await ledger.db.updateTable('webhooks').set({ applied_at: clock.iso() }).execute();
    await post(payout);
    expect((await webhooks())[0]).toMatchObject({ stale: 0n, applied_at: null });
    await post(payout, { timestamp: '1' });
    expect((await webhooks())[0]).toMatchObject({ stale: 0n, deliveries: 3n });
  });
});

describe('what is refused', () => {
  it('401 for a signature that is missing or wrong, a wrong merchantsignature, or no Authorization where it is due', async () => {
    await start({ keys: { test: { ...modeKeys, webhookKeys: ['hook'] } } });
    const statuses = [
      (await fetch(`${url}/webhooks/test`, { method: 'POST', body: payout })).status,
      (await post(payout, { payloadsignature: sign('other') })).status,
      (await post(payout, { merchantsignature: sign('pk_other') })).status,
      (await post(payout)).status,
    ];
    expect(statuses).toEqual([401, 401, 401, 401]);
    const whole = { merchantsignature: sign('pk_test_1'), authorization: 'Bearer hook' };
    expect((await post(payout, whole)).status).toBe(200);
    await receiver?.close();
    expect(await countRejections(ledger.db)).toBe(4);
    expect(await webhooks()).toHaveLength(1);
  });

  it('404 for the other mode and for other paths, 413 too large, 415 compressed', async () => {
    await start({ receiver: { maxBodyBytes: 100 } });
    expect((await post(payout, {}, '/webhooks/live')).status).toBe(404);
    expect((await post(payout, {}, '/webhooks/%zz')).status).toBeLessThan(500);
    const got = await fetch(`${url}/webhooks/test`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await post('x'.repeat(101))).status).toBe(413);
    expect((await post(payout, { 'content-encoding': 'gzip' })).status).toBe(415);
    expect(await webhooks()).toEqual([]);
  });

  it('403 for a source address that is not allowed, believing X-Forwarded-For only from a trusted proxy', async () => {
    await start({ receiver: { allowFrom: ['192.0.2.0/24'] } });
    expect((await post(payout, { 'x-forwarded-for': '192.0.2.9' })).status).toBe(403);
    await receiver?.close();
    await start({ receiver: { allowFrom: ['192.0.2.0/24'], trustProxy: ['127.0.0.1'] } });
    expect((await post(payout, { 'x-forwarded-for': '192.0.2.9' })).status).toBe(200);
    expect((await post(payout, { 'x-forwarded-for': 'garbage' })).status).toBe(403);
  });

  it('408 for a sender that is too slow', async () => {
    await start({ requestTimeoutMs: 200 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST /webhooks/test HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    const reply = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    );
    socket.destroy();
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('close answers what was read and does not wait for ever for a sender that never ends', async () => {
    await start({ requestTimeoutMs: 300 });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const ended = new Promise((resolve) => socket.resume().once('close', resolve));
    socket.write('POST /webhooks/test HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    const answers = Array.from({ length: 10 }, (_, index) => post(`{"n":${index}}`));
    expect((await Promise.race(answers)).status).toBe(200);
    await receiver?.close();
    await ended;
    const heard = (await Promise.allSettled(answers)).filter(
      (reply) => reply.status === 'fulfilled' && reply.value.status === 200,
    );
    expect(await webhooks()).toHaveLength(heard.length);
  });

  it('503 with Retry-After when the ledger cannot be written, and never another 5xx', async () => {
    await start();
    await ledger.close();
    const reply = await post(payout);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
    ledger = await openLedger(join(dir, 'ledger.db'), { now: () => clock.iso() });
  });

  it('keeps only the newest thousand rejections but counts them all', async () => {
    await start();
    for (let round = 0; round < 11; round++) {
      await Promise.all(Array.from({ length: 100 }, () => post(payout, { payloadsignature: 'x' })));
    }
    await receiver?.close();
    expect(await countRejections(ledger.db)).toBe(1100);
    expect(await ledger.db.selectFrom('rejections').select('id').execute()).toHaveLength(1000);
  });
});
