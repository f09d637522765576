import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { createServiceClient } from '../../../src/core/service/client.ts';
import { signBody } from '../../../src/core/service/signing.ts';
import { createTransport } from '../../../src/core/service/transport.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { httpReply, type RawRequest, startRawService } from '../../support/raw-service.ts';

const body = '{"reference":"R-1"}';
const accepted = httpReply(
  200,
  '{"success":true,"status":"00","message":"ok","data":{"transfer_id":"481","reference":"R-1"}}',
);
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function clientOf(baseUrl: string, timeoutMs = 5000, concurrency = 1): ServiceClient {
  const client = createServiceClient({
    baseUrl,
    secretKey: 'sk_test_x',
    orderKey: 'sk_order',
    signingKey: 'enc_x',
    transport: createTransport({ origin: new URL(baseUrl).origin, timeoutMs, concurrency }),
    rules: { codes: {}, edgeRejections: [429] },
  });
  closers.push(() => client.close());
  return client;
}
async function talk(answer: (request: RawRequest) => void, timeoutMs?: number) {
  const service = await startRawService(answer);
  closers.push(service.stop);
  const client = clientOf(service.url, timeoutMs);
  return { service, client, send: () => client.bankTransfer(body, 'R-1', () => true) };
}

it('sends the frozen bytes once, signed, with the key of orders', async () => {
  const { service, send } = await talk(({ socket }) => socket.write(accepted));
  expect(await send()).toMatchObject({ kind: 'accepted', transferId: '481' });
  expect(service.bodies).toEqual([body]);
  expect(service.heads[0]).toMatch(/^POST \/api\/v1\/bank_transfer HTTP\/1\.1/);
  expect(service.heads[0]).toMatch(/authorization: Bearer sk_order/i);
  expect(service.heads[0]).toContain(signBody(body, 'enc_x'));
});

it('P3: an intent that grew too old is not sent at all', async () => {
  const { service, client } = await talk(({ socket }) => socket.write(accepted));
  expect((await client.bankTransfer(body, 'R-1', () => false)).kind).toBe('not_sent');
  expect(service.connections()).toBe(0);
});

it('P7: a refused connection proves that nothing was sent', async () => {
  const service = await startRawService(() => undefined);
  await service.stop();
  const outcome = await clientOf(service.url).bankTransfer(body, 'R-1', () => true);
  expect(outcome).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('ECONNREFUSED') });
});

const endings: [string, (request: RawRequest) => void][] = [
  ['a reset after the body', ({ socket }) => socket.resetAndDestroy()],
  ['a close after the body', ({ socket }) => socket.end()],
  ['a reply cut off in its head', ({ socket }) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
  ['a reply cut off in its body', ({ socket }) => socket.end(accepted.slice(0, -5))],
  ['something that is no HTTP', ({ socket }) => socket.end('SSH-2.0-x\r\n\r\n')],
  ['an edge page', ({ socket }) => socket.end(httpReply(502, '<html>'))],
];
it.each(endings)('P8: %s is unknown, and the body left once', async (_name, answer) => {
  const { service, send } = await talk(answer);
  expect((await send()).kind).toBe('unknown');
  expect(service.bodies).toEqual([body]);
});

it('P8: a service that never answers is unknown after the time-out', async () => {
  const { service, send } = await talk(() => undefined, 300);
  const began = performance.now();
  expect((await send()).kind).toBe('unknown');
  expect(performance.now() - began).toBeGreaterThan(250);
  expect(performance.now() - began).toBeLessThan(3000);
  expect(service.bodies).toHaveLength(1);
});

it.each([301, 302, 307, 308])('P9: a redirect (%i) is not followed and is unknown', async (status) => {
  const { service, send } = await talk(({ socket }) =>
    socket.write(httpReply(status, '', ['location: /api/v1/elsewhere'])),
  );
  expect((await send()).kind).toBe('unknown');
  expect(service.bodies).toHaveLength(1);
});

it('P9: a close on a socket that is used again never sends a body twice', async () => {
  const { service, send } = await talk(({ socket, number }) =>
    number === 2 ? socket.destroy() : socket.write(accepted),
  );
  expect((await send()).kind).toBe('accepted');
  expect((await send()).kind).toBe('unknown');
  expect(service.connections(), 'the second order used the first socket').toBe(1);
  expect(service.bodies).toHaveLength(2);
});

it('P9: a socket idle for over a second is not used for an order again', async () => {
  const { service, send } = await talk(({ socket }) => socket.write(accepted));
  await send();
  await send();
  expect(service.connections()).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect((await send()).kind).toBe('accepted');
  expect(service.connections()).toBe(2);
});

it('P9: offered HTTP/2 by an Upgrade header, the client stays on HTTP/1.1 and does not ask again', async () => {
  const { service, send } = await talk(({ socket }) =>
    socket.end(httpReply(426, '', ['upgrade: h2c', 'connection: upgrade'])),
  );
  expect((await send()).kind).toBe('unknown');
  expect(service.bodies).toHaveLength(1);
});

it('P8: Retry-After reaches the sender in milliseconds', async () => {
  const { send } = await talk(({ socket }) => socket.write(httpReply(429, '<html>', ['retry-after: 3'])));
  expect(await send()).toMatchObject({ kind: 'turned_away', retryAfterMs: 3000 });
});

it('P22: a reference is one encoded segment of a question, and questions carry the secret key', async () => {
  const { service, client } = await talk(({ socket }) => socket.write(httpReply(200, '{}')));
  expect(await client.fetchTransferDetails('../a b?c')).toMatchObject({ kind: 'reply', httpStatus: 200 });
  expect(service.heads[0]).toMatch(/^GET \/api\/v1\/fetch_transfer_details\/\.\.%2Fa%20b%3Fc HTTP/);
  expect(service.heads[0]).toMatch(/authorization: Bearer sk_test_x/i);
});

it.each([
  [401, 'unauthorised'],
  [403, 'unauthorised'],
  [429, 'throttled'],
  [503, 'server_error'],
  [302, 'not_understood'],
  [200, 'not_understood'],
])('a question answered %i without JSON is trouble: %s', async (status, reason) => {
  const { client } = await talk(({ socket }) => socket.write(httpReply(status, '<html>')));
  expect(await client.fetchTransferDetails('R-1')).toMatchObject({ kind: 'trouble', reason });
});

it('P13: numbers of a reply are read as text, without losing a digit', async () => {
  const { client } = await talk(({ socket }) => socket.write(httpReply(200, '{"id":90071992547409931}')));
  expect(await client.fetchTransferDetails('R-1')).toMatchObject({ json: { id: '90071992547409931' } });
});

it.each([
  ['seconds', ['retry-after: 7'], 7000],
  [
    'a date, counted from the reply’s own Date',
    ['date: Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after: Sat, 21 Nov 2026 10:00:30 GMT'],
    30_000,
  ],
  ['a year, cut to an hour', ['retry-after: 31536000'], 3_600_000],
  ['nonsense', ['retry-after: soon'], null],
])('P8: Retry-After as %s', async (_name, headers, retryAfterMs) => {
  const { send } = await talk(({ socket }) => socket.write(httpReply(429, '', headers)));
  expect(await send()).toMatchObject({ kind: 'turned_away', retryAfterMs });
});

it('P3: an intent that grows too old while it waits for a socket is not sent', async () => {
  const { service, client, send } = await talk(
    ({ socket }) => void setTimeout(() => socket.write(accepted), 400),
  );
  const first = send();
  const began = performance.now();
  const second = client.bankTransfer(body, 'R-1', () => performance.now() - began < 200);
  expect((await first).kind).toBe('accepted');
  expect(await second).toMatchObject({ kind: 'not_sent', message: expect.stringContaining('too old') });
  expect(service.bodies).toHaveLength(1);
});

it('asks for answers that are not compressed, and reads one that begins with a byte order mark', async () => {
  const { service, client, send } = await talk(({ socket }) =>
    socket.write(httpReply(200, '\ufeff{"success":false,"status":"04"}')),
  );
  expect(await client.fetchTransferDetails('R-1')).toMatchObject({ json: { status: '04' } });
  expect(await send()).toMatchObject({ kind: 'unknown', code: '04' });
  for (const head of service.heads) expect(head).toMatch(/accept-encoding: identity/i);
});

const codings = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

it.each(Object.entries(codings))(
  'reads answers that come compressed although it asked for plain ones: %s',
  async (coding, compress) => {
    const answer = { success: false, status: '25', message: 'over the limit', data: { reference: 'R-1' } };
    const body = compress(JSON.stringify(answer));
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const { client, send } = await talk(({ socket }) =>
      socket.write(Buffer.concat([Buffer.from(head), body])),
    );
    expect(await client.fetchTransferDetails('R-1')).toMatchObject({ json: { status: '25' } });
    expect(await send()).toMatchObject({ kind: 'refused', code: '25' });
  },
);

it('P8: an answer that breaks inside its compression, or grows beyond any reply, is unknown', async () => {
  for (const body of [
    gzipSync('{"success":true}').subarray(0, 20),
    gzipSync(Buffer.alloc(17 * 1024 * 1024)),
  ]) {
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
    const { send } = await talk(({ socket }) => socket.write(Buffer.concat([Buffer.from(head), body])));
    expect(await send()).toMatchObject({ kind: 'unknown', code: null });
  }
});

it('P28: a page whose text is known is not read again, but its Date is; a failing answer is never recalled', async () => {
  const text = JSON.stringify({
    success: true,
    status: '00',
    data: {
      current_page: 1,
      total: 1,
      data: [{ id: 7, reference: 'R-1', currency: 'NGN', amount: '1.00', status: 'pending' }],
    },
  });
  let status = 200;
  const { client } = await talk(({ socket }) => socket.write(httpReply(status, text)));
  const first = await client.listPage(1);
  if (first.kind !== 'page') throw new Error(first.message);
  expect(first.page.items).toHaveLength(1);
  const known = { ...first.page, items: [], total: 99, date: 5 };
  const recall = (digest: string) => (digest === first.page.digest ? known : undefined);
  const again = await client.listPage(1, undefined, recall);
  expect(again).toEqual({ kind: 'page', page: { ...known, date: first.page.date } });
  status = 500;
  expect(await client.listPage(1, undefined, recall)).toMatchObject({
    kind: 'trouble',
    reason: 'server_error',
  });
});

it('P38: the clock of the service is that of its own replies, and not of a proxy before it', async () => {
  const own = 'Fri, 27 Nov 2026 10:00:00 GMT';
  const stepped = 'Fri, 25 Dec 2026 10:00:00 GMT';
  const reply = (status: number, date: string, text: string): string =>
    httpReply(status, text, [`Date: ${date}`]);
  const page = '{"success":true,"status":"00","data":{"current_page":1,"total":0,"data":[]}}';
  let answer = '';
  const { client, send } = await talk(({ socket }) => socket.write(answer));
  const ask = [send, () => client.fetchTransferDetails('R-1'), () => client.listPage(1)];
  const dateHeard = (): string | undefined => {
    const now = client.serviceNow();
    return now == null ? undefined : new Date(now).toISOString().slice(0, 10);
  };
  for (const [status, text] of [
    [502, '<html>proxy error</html>'],
    [200, '{"ok":true}'],
  ] as const) {
    answer = reply(status, stepped, text);
    for (const one of ask) await one();
    expect(client.serviceNow()).toBeUndefined();
  }
  // A refusal of the service carries its envelope, and so its time.
  for (const [status, text] of [
    [401, '{"success":false,"status":"10","message":"no"}'],
    [200, page],
  ] as const) {
    answer = reply(status, own, text);
    await client.listPage(1);
    expect(dateHeard()).toBe('2026-11-27');
    answer = reply(502, stepped, '<html>proxy error</html>');
    for (const one of ask) await one();
    expect(dateHeard()).toBe('2026-11-27');
  }
});
