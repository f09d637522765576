import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, Socket } from 'node:net';
import { errors } from 'undici';
import { expect, it } from 'vitest';
import { httpReply, type RawOptions, type RawRequest, startRawService } from '../../support/raw-service.ts';
import { clientOf, closers } from './orders.ts';

const accepted = (reference: string): string =>
  httpReply(
    200,
    `{"success":true,"status":"00","message":"ok","data":{"transfer_id":"481","reference":"${reference}"}}`,
  );
const refused = httpReply(400, '{"success":false,"status":"24","message":"no such amount"}');
const referenceIn = (body: string): string => /"reference":"([^"]+)"/.exec(body)?.[1] ?? '';
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The real client of this address: each order has a reference and a body of its own. */
function orders(url: string, timeoutMs = 2000) {
  const client = clientOf(url, timeoutMs);
  return (reference: string) =>
    client.bankTransfer(`{"narration":"Salary","reference":"${reference}"}`, reference, () => true);
}

async function talk(
  answer: (request: RawRequest) => void,
  options: RawOptions & { timeoutMs?: number } = {},
) {
  const service = await startRawService(answer, options);
  closers.push(service.stop);
  const sentOf = (reference: string): number =>
    service.bodies.filter((body) => referenceIn(body) === reference).length;
  return { service, sentOf, send: orders(service.url, options.timeoutMs) };
}

const answers = ({ socket, body }: RawRequest): boolean => socket.write(accepted(referenceIn(body)));
const cutOff: [string, string][] = [
  ['103 early hints', 'HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n'],
  ['100 continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['102 processing, twice', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'],
  ['its headers', 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n'],
  ['a part of its body', accepted('R-1').slice(0, -20)],
  ['a chunk of a chunked body', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"suc\r\n'],
  ['a chunk size that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n',
  ],
  ['frames of HTTP/2: settings and goaway', '\0\0\0\x04\0\0\0\0\0\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0'],
];
for (const [how, end] of [
  ['closes', (socket: Socket, text: string) => socket.end(text, 'latin1')],
  ['resets', (socket: Socket, text: string) => socket.write(text, 'latin1', () => socket.resetAndDestroy())],
] as const) {
  it.each(cutOff)(
    `P9: a service that answers with %s and ${how} got the body once, and it is unknown`,
    async (_, text) => {
      const { service, send } = await talk(({ socket }) => void end(socket, text));
      expect((await send('R-1')).kind).toBe('unknown');
      await wait(50);
      expect(service.bodies).toHaveLength(1);
    },
  );
}

it('P9: an answer without a length that ends with the connection is whole, and the body left once', async () => {
  const { service, send } = await talk(({ socket }) =>
    socket.end(accepted('R-1').replace(/content-length: \d+/, 'connection: close')),
  );
  expect((await send('R-1')).kind).toBe('accepted');
  expect(service.bodies).toHaveLength(1);
});

it.each(['103 Early Hints', '102 Processing'])(
  'P5: the answer after a %s is the answer, and the body left once',
  async (early) => {
    const { service, send } = await talk(({ socket, body }) => {
      socket.write(`HTTP/1.1 ${early}\r\n\r\n`);
      setTimeout(() => socket.write(accepted(referenceIn(body))), 10);
    });
    expect(await send('R-1')).toMatchObject({ kind: 'accepted', httpStatus: 200 });
    expect(service.bodies).toHaveLength(1);
  },
);

it.each([
  ['hint after hint', 'HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ['its body byte by byte', 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n', '{'],
])(
  'P8: a service that sends %s is given up when the time of the whole request is over',
  async (_, head, more) => {
    const drips: NodeJS.Timeout[] = [];
    closers.push(async () => drips.forEach(clearInterval));
    const { service, send } = await talk(
      ({ socket }) => {
        socket.write(head);
        drips.push(setInterval(() => socket.write(more), 50));
      },
      { timeoutMs: 300 },
    );
    const began = performance.now();
    expect(await send('R-1')).toMatchObject({ kind: 'unknown', message: expect.stringContaining('timeout') });
    expect(performance.now() - began).toBeLessThan(1500);
    expect(service.bodies).toHaveLength(1);
  },
);

it.each([301, 302, 303, 307, 308])(
  'P9: %i to another server: no server but the first gets a body',
  async (status) => {
    const elsewhere = await talk(answers);
    const { service, send } = await talk(({ socket }) =>
      socket.write(httpReply(status, '', [`location: ${elsewhere.service.url}/api/v1/bank_transfer`])),
    );
    expect((await send('R-1')).kind).toBe('unknown');
    expect([service.bodies.length, elsewhere.service.connections()]).toEqual([1, 0]);
  },
);

it('P9: an answer before the body was read is judged, and the body is not sent again', async () => {
  const { service, send } = await talk(() => undefined, {
    onBytes: (socket) => void socket.end(httpReply(413, '<html>too large</html>')),
  });
  expect((await send('R-1')).kind).toBe('unknown');
  await wait(50);
  expect(service.connections()).toBe(1);
});

it('P7: a socket that closes as the next order is written: what may have left is unknown, and left once', async () => {
  // The second order's first byte kills the socket that carried the first.
  const { service, send } = await talk(answers, {
    onBytes: (socket, count) => void (count > 1 && socket.resetAndDestroy()),
  });
  expect((await send('R-1')).kind).toBe('accepted');
  expect((await send('R-2')).kind).toBe('unknown');
  await wait(50);
  expect(service.connections(), 'no second try on a new socket').toBe(1);
});

it.each([
  ['at once', 0, ''],
  ['after a moment', 1, ''],
  ['at once, and says so', 0, 'connection: close'],
])('P7: an order that meets a socket closing %s is sent once or proven not sent', async (_, ms, header) => {
  const { service, sentOf, send } = await talk(({ socket, body }) => {
    const reply = accepted(referenceIn(body)).replace('\r\n', header ? `\r\n${header}\r\n` : '\r\n');
    socket.write(reply, () => void setTimeout(() => socket.end(), ms));
  });
  for (let i = 0; i < 60; i++) {
    if (i % 3 === 0) await wait(1);
    const before = service.bytes();
    const { kind } = await send(`R-${i}`);
    expect(['accepted', 'unknown', 'not_sent']).toContain(kind);
    expect(sentOf(`R-${i}`)).toBeLessThanOrEqual(1);
    if (kind === 'accepted') expect(sentOf(`R-${i}`)).toBe(1);
    if (kind === 'not_sent') expect(service.bytes()).toBe(before);
  }
});

it('P9: a second answer on one socket is never taken for the answer to the next order', async () => {
  const { sentOf, send } = await talk(({ socket, body, number }) =>
    socket.write(number === 1 ? accepted(referenceIn(body)) + refused : accepted(referenceIn(body))),
  );
  expect((await send('R-1')).kind).toBe('accepted');
  expect((await send('R-2')).kind, 'a refusal would let a person pay it again').not.toBe('refused');
  expect(sentOf('R-2')).toBeLessThanOrEqual(1);
});

it.each([
  ['while it is idle', () => wait(60)],
  ['while this process stands still', async () => standStill(60)],
])('P9: an answer to a request not made yet, come %s, is not believed', async (_, pass) => {
  const { service, sentOf, send } = await talk(({ socket, body, number }) => {
    socket.write(accepted(referenceIn(body)));
    if (number === 1) setTimeout(() => socket.write(refused), 20);
  });
  expect((await send('R-1')).kind).toBe('accepted');
  await pass();
  expect((await send('R-2')).kind).not.toBe('refused');
  expect(sentOf('R-2')).toBeLessThanOrEqual(1);
  const sent = service.bodies.filter((body) => body !== '');
  expect(sent.length).toBeLessThanOrEqual(2);
});

it('P9: an order that undici wants to write again, its socket gone, is not written a second time', async () => {
  const channel = 'undici:client:sendHeaders';
  // With this error undici keeps the request that was under way, and begins it anew on another socket.
  const lose = (message: unknown): void => {
    unsubscribe(channel, lose);
    if (typeof message !== 'object' || message === null || !('socket' in message)) return;
    const { socket } = message;
    if (socket instanceof Socket) setTimeout(() => socket.destroy(new errors.InformationalError('gone')), 20);
  };
  subscribe(channel, lose);
  const { service, send } = await talk(() => undefined);
  expect((await send('R-1')).kind).toBe('unknown');
  await wait(50);
  expect(service.bodies).toHaveLength(1);
});

it('P7: a server that takes the connection and closes it unread: the order is not sent, or unknown, never twice', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => void server.close(() => resolve())));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const { kind } = await orders(`http://127.0.0.1:${port}`)('R-1');
  expect(['not_sent', 'unknown']).toContain(kind);
  await wait(50);
  if (kind === 'unknown') expect(connections).toBe(1);
});

/** A pause of the whole event loop: what arrives meanwhile lies in the kernel. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
