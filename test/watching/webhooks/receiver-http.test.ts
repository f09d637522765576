import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  dial,
  exchange,
  plainKeys,
  proofOf,
  type Running,
  requestBytes,
  startReceiver,
  statusesOf,
} from '../../support/receiver.ts';

let running: Running;
beforeEach(async () => {
  running = await startReceiver();
});
afterEach(() => running.remove());

const body = '{"event":"payout","reference":"A-1","trx":"T1"}';
const send = async (...pieces: (string | Uint8Array)[]): Promise<number[]> =>
  statusesOf(await exchange(running.port, pieces));
const chunked = (text: string): string => `${text.replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`;
const head = (line: string, headers: Record<string, string | null>): Buffer => {
  const bytes = requestBytes(body, { line, headers });
  return bytes.subarray(0, bytes.length - body.length);
};

describe('an authentic delivery', () => {
  it.each<[string, () => (string | Uint8Array)[]]>([
    ['by HTTP/1.0', () => [requestBytes(body, { line: 'POST /webhooks/test HTTP/1.0' })]],
    [
      'in chunks',
      () => [
        head('POST /webhooks/test HTTP/1.1', { 'content-length': null, 'transfer-encoding': 'chunked' }),
        chunked(body),
      ],
    ],
    ['with a query', () => [requestBytes(body, { line: 'POST /webhooks/test?source=service HTTP/1.1' })]],
    [
      'with the target in absolute form',
      () => [requestBytes(body, { line: 'POST http://pay.example.com/webhooks/test HTTP/1.1' })],
    ],
    ['byte by byte', () => [...requestBytes(body)].map((byte) => Buffer.from([byte]))],
    [
      'with an Upgrade that nobody follows',
      () => [requestBytes(body, { headers: { connection: 'Upgrade', upgrade: 'h2c' } })],
    ],
    [
      'with header names in upper case',
      () => [
        requestBytes(body, {
          headers: { payloadsignature: null, PAYLOADSIGNATURE: proofOf(body).payloadsignature ?? '' },
        }),
      ],
    ],
    [
      'with 10 KB of other headers',
      () => [requestBytes(body, { headers: { 'x-other': 'y'.repeat(10_000) } })],
    ],
    [
      'that calls itself a form',
      () => [requestBytes(body, { headers: { 'content-type': 'application/x-www-form-urlencoded' } })],
    ],
    [
      'that calls itself multipart',
      () => [requestBytes(body, { headers: { 'content-type': 'multipart/form-data; boundary=x' } })],
    ],
  ])('is taken %s', async (_title, pieces) => {
    expect(await send(...pieces())).toEqual([200]);
    expect(await running.bodies()).toEqual([body]);
  });

  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d])],
    ['objects in 10,000 levels', `${'{"":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['arrays in 10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    [
      'a payout with 10,000 levels inside',
      `{"event":"payout","reference":"A-1","note":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
    ],
    [
      'numbers beyond any type',
      `{"event":"payout","reference":1${'0'.repeat(400)},"amount":1e999999,"trx":-1e-999999}`,
    ],
    ['one key twice', '{"event":"payout","reference":"A","reference":"B","event":"payout"}'],
    [
      'keys of prototypes',
      '{"__proto__":{"event":"payout","reference":"P"},"constructor":{"prototype":{"x":1}},"event":"payout"}',
    ],
    ['fields of wrong types', '{"event":["payout"],"reference":{"a":1},"trx":true,"data":"no object"}'],
    ['an event that nobody knows', '{"event":"chargeback","reference":"A-1"}'],
    ['no event', '{"reference":"A-1"}'],
    ['null', 'null'],
    ['a byte order mark', '\ufeff{"event":"payout"}'],
    ['NUL in a reference', '{"event":"payout","reference":"A\\u0000B","trx":"T"}'],
    ['a lone surrogate', '{"event":"payout","reference":"A\\ud800"}'],
    ['a reference of 60,000 letters', `{"event":"payout","reference":"${'x'.repeat(60_000)}"}`],
  ])('is never lost, though it holds %s', async (_title, odd) => {
    expect(await send(requestBytes(odd))).toEqual([200]);
    const rows = await running.ledger.db.selectFrom('webhooks').select(['body', 'reference']).execute();
    expect(rows.map((row) => Buffer.from(row.body))).toEqual([Buffer.from(odd)]);
  });

  it('keeps every digit of a reference that is a number, however long, and a mark for what no column can hold', async () => {
    await send(requestBytes(`{"event":"payout","reference":1${'0'.repeat(100)},"trx":"T\\u0000"}`));
    const row = await running.ledger.db
      .selectFrom('webhooks')
      .select(['reference', 'trx'])
      .executeTakeFirst();
    expect(row).toEqual({ reference: `1${'0'.repeat(100)}`, trx: 'T\uFFFD' });
  });

  it('is taken after 100 Continue, which only a request that is not refused gets', async () => {
    const asking = head('POST /webhooks/test HTTP/1.1', { expect: '100-continue' });
    const socket = await dial(running.port);
    const said: string[] = [];
    socket.on('data', (data) => void said.push(String(data)));
    socket.write(asking);
    await new Promise((resolve) => socket.once('data', resolve));
    expect(said.join('')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.end(body);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(statusesOf(said.join(''))).toEqual([100, 200]);
    const refused = await exchange(running.port, [
      head('POST /webhooks/live HTTP/1.1', { expect: '100-continue' }),
    ]);
    expect(statusesOf(refused)).toEqual([404]);
    expect(refused.toLowerCase()).toContain('connection: close');
    expect(await send(requestBytes(body, { headers: { expect: 'the-unexpected' } }))).toEqual([417]);
  });

  it('is answered in its turn when several come on one connection before the first answer', async () => {
    const all = Array.from({ length: 50 }, (_, n) => (n % 5 === 4 ? '' : `{"n":${n}}`));
    const forged = requestBytes('forged', { headers: { payloadsignature: 'ab'.repeat(64) } });
    const requests = all.map((text) => (text === '' ? forged : requestBytes(text)));
    expect(await send(Buffer.concat(requests))).toEqual(all.map((text) => (text === '' ? 401 : 200)));
    expect(await running.bodies()).toEqual(all.filter((text) => text !== ''));
  });
});

describe('what is no delivery', () => {
  it('a tunnel asked for right behind a delivery, with more behind it, does not keep the receiver from closing', async () => {
    const tunnel = requestBytes(body, { line: 'CONNECT pay.example.com:443 HTTP/1.1' });
    const all = Buffer.concat([requestBytes(body), tunnel, Buffer.alloc(100_000, 'x')]);
    await exchange(running.port, [all]);
    const closed = running.receiver.close().then(() => 'closed');
    const open = new Promise((resolve) => setTimeout(() => resolve('still open'), 4000).unref());
    expect(await Promise.race([closed, open])).toBe('closed');
  });

  it.each<[string, number]>([
    ['GET /webhooks/test HTTP/1.1', 405],
    ['HEAD /webhooks/test HTTP/1.1', 405],
    ['OPTIONS /webhooks/test HTTP/1.1', 405],
    ['TRACE /webhooks/test HTTP/1.1', 405],
    ['PUT /webhooks/test HTTP/1.1', 405],
    ['OPTIONS * HTTP/1.1', 404],
    ['CONNECT pay.example.com:443 HTTP/1.1', 405],
    ['POST / HTTP/1.1', 404],
    ['POST /webhooks/live HTTP/1.1', 404],
    ['POST /webhooks/TEST HTTP/1.1', 404],
    ['POST /webhooks/test/ HTTP/1.1', 404],
    ['POST /webhooks/%zz HTTP/1.1', 404],
    ['POST /webhooks/../webhooks/test HTTP/1.1', 404],
    ['POST //webhooks/test HTTP/1.1', 404],
    ['POST /webhooks/constructor HTTP/1.1', 404],
    ['POST ftp://x/webhooks/test HTTP/1.1', 404],
    [`POST /${'a'.repeat(12_000)} HTTP/1.1`, 404],
    [`POST /${'a'.repeat(20_000)} HTTP/1.1`, 431],
    ['POST /webhooks/test HTTP/9.9', 400],
    ['BREW /webhooks/test HTTP/1.1', 400],
    ['PRI * HTTP/2.0', 400],
    ['\x16\x03\x01\x02\x00\x01\x00', 400],
  ])('%j is answered %i', async (line, status) => {
    const statuses = await send(requestBytes(body, { line }));
    expect(statuses[0]).toBe(status);
    expect(statuses.every((one) => one < 500)).toBe(true);
    expect(await running.bodies()).toEqual([]);
  });

  it.each<[string, Record<string, string | null>, string]>([
    ['two lengths', { 'content-length': `${body.length}\r\nContent-Length: 5` }, body],
    ['one length twice', { 'content-length': `${body.length}\r\nContent-Length: ${body.length}` }, body],
    ['a list of lengths', { 'content-length': `${body.length}, ${body.length}` }, body],
    ['a length and chunks', { 'transfer-encoding': 'chunked' }, chunked(body)],
    [
      'chunks and a length behind',
      { 'content-length': null, 'transfer-encoding': 'chunked\r\nContent-Length: 5' },
      chunked(body),
    ],
    ['chunks under another name', { 'content-length': null, 'transfer-encoding': 'xchunked' }, chunked(body)],
    [
      'chunks named twice',
      { 'content-length': null, 'transfer-encoding': 'chunked, identity' },
      chunked(body),
    ],
    ['a negative length', { 'content-length': '-1' }, body],
    ['a signed length', { 'content-length': `+${body.length}` }, body],
    ['a length in hexadecimal', { 'content-length': '0x2f' }, body],
    ['a length beyond 64 bits', { 'content-length': '99999999999999999999999' }, body],
    ['a blank before a colon', { 'content-length ': '1' }, body],
    ['a folded header', { 'x-other': 'a\r\n b' }, body],
    ['a bare line feed', { 'x-other': 'a\nContent-Length: 0' }, body],
    ['NUL in a header', { 'x-other': 'a\0b' }, body],
  ])('never lets one request hide in another: %s', async (_title, headers, payload) => {
    const first = requestBytes(body, { headers });
    const start = first.subarray(0, first.length - body.length);
    const hidden = requestBytes('{"hidden":true}');
    const statuses = await send(Buffer.concat([start, Buffer.from(payload), hidden]));
    expect(statuses).toEqual([400]);
    expect(await running.bodies()).toEqual([]);
  });

  it('401 for a signature given twice, 408 for no request at all, 413 for a chunked body without an end', async () => {
    const { payloadsignature = '' } = proofOf(body);
    const twice = { payloadsignature: `${payloadsignature}\r\npayloadsignature: ${payloadsignature}` };
    expect(await send(requestBytes(body, { headers: twice }))).toEqual([401]);
    const endless = head('POST /webhooks/test HTTP/1.1', {
      'content-length': null,
      'transfer-encoding': 'chunked',
    });
    expect(await send(endless, `fffff\r\n${'x'.repeat(0xfffff)}\r\n`, `fffff\r\n`)).toEqual([413]);
    await running.remove();
    running = await startReceiver({ requestTimeoutMs: 200 });
    expect(statusesOf(await exchange(running.port, [], { end: false, ms: 3000 }))).toEqual([408]);
    expect(
      statusesOf(await exchange(running.port, ['POST /webhooks/test HTT'], { end: false, ms: 3000 })),
    ).toEqual([408]);
  });

  it('notes what was refused, what was no request among it', async () => {
    await send(requestBytes(body, { headers: { payloadsignature: 'ab'.repeat(64) } }));
    await send('nonsense\r\n\r\n');
    await running.receiver.close();
    const rows = await running.ledger.db
      .selectFrom('rejections')
      .select(['path', 'kind', 'detail', 'address'])
      .execute();
    expect(rows).toEqual([
      { path: '/webhooks/test', kind: 'signature_wrong', detail: 'a-1', address: '127.0.0.1' },
      { path: '', kind: 'no_request', detail: '400 Bad Request', address: '127.0.0.1' },
    ]);
  });
});

describe('the source of a delivery', () => {
  const sourceOf = async (headers: Record<string, string>, trustProxy: string[]) => {
    await running.remove();
    running = await startReceiver({ keys: { test: plainKeys }, receiver: { trustProxy } });
    await send(requestBytes(body, { headers }));
    const row = await running.ledger.db.selectFrom('webhooks').select('headers').executeTakeFirstOrThrow();
    const { 'source-address': address, 'source-protocol': protocol } = JSON.parse(row.headers);
    return `${protocol} ${address}`;
  };

  it.each<[string, Record<string, string>, string[], string]>([
    [
      'the peer, whatever it says of others',
      { 'x-forwarded-for': '192.0.2.9', 'x-forwarded-proto': 'https' },
      [],
      'http 127.0.0.1',
    ],
    [
      'what the proxy saw',
      { 'x-forwarded-for': '192.0.2.9', 'x-forwarded-proto': 'https' },
      ['127.0.0.1'],
      'https 192.0.2.9',
    ],
    [
      'what the last proxy saw, not what the sender wrote before',
      { 'x-forwarded-for': '10.9.9.9, 192.0.2.9, 10.0.0.1' },
      ['127.0.0.1', '10.0.0.0/24'],
      'http 192.0.2.9',
    ],
    [
      'an address with a port',
      { 'x-forwarded-for': '[2001:db8::1]:4711' },
      ['127.0.0.0/8'],
      'http 2001:db8::1',
    ],
    [
      'unknown, where the proxy wrote no address',
      { 'x-forwarded-for': '_hidden' },
      ['127.0.0.1'],
      'http unknown',
    ],
    ['the proxy itself, where it wrote nothing', {}, ['127.0.0.1'], 'http 127.0.0.1'],
  ])('is %s', async (_title, headers, proxies, expected) => {
    expect(await sourceOf(headers, proxies)).toBe(expected);
  });
});
