import { readFileSync } from 'node:fs';
import {
  createSecureServer,
  type Http2ServerRequest,
  constants as http2,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { httpReply, type RawRequest, startRawService } from '../../support/raw-service.ts';
import { clientOf, closers } from './orders.ts';

const fixture = (name: string): string =>
  readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
const trusted = { cert: fixture('trusted.cert'), key: fixture('trusted.key') };
const elsewhere = { cert: fixture('elsewhere.cert'), key: fixture('elsewhere.key') };
const stranger = { cert: fixture('stranger.cert'), key: fixture('stranger.key') };
const body = '{"narration":"Salary","reference":"R-1"}';
const accepted =
  '{"success":true,"status":"00","message":"ok","data":{"transfer_id":"481","reference":"R-1"}}';

// As NODE_EXTRA_CA_CERTS does it for a user: the product has no option of its own, least of all to trust everybody.
const usual = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...usual, trusted.cert, elsewhere.cert]));
afterAll(() => setDefaultCACertificates(usual));
function send(url: string, timeoutMs = 3000) {
  const client = clientOf(url, timeoutMs);
  return client.bankTransfer(body, 'R-1', () => true);
}

async function overTls(
  tls: TlsOptions,
  answer = ({ socket }: RawRequest): void => void socket.write(httpReply(200, accepted)),
) {
  const make = (onSocket: (socket: Socket) => void) =>
    createTlsServer({ ...trusted, ...tls }, onSocket).on('tlsClientError', () => undefined);
  const service = await startRawService(answer, { make });
  closers.push(service.stop);
  return service;
}

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'P9: over %s with a certificate we trust, the order is taken once',
  async (version) => {
    const service = await overTls({ minVersion: version, maxVersion: version });
    expect((await send(service.url)).kind).toBe('accepted');
    expect(service.bodies).toEqual([body]);
  },
);

it('P7: a certificate we do not trust: not a byte of the order left', async () => {
  const service = await overTls(stranger);
  const outcome = await send(service.url);
  expect(outcome).toMatchObject({
    kind: 'not_sent',
    message: expect.stringMatching(/SELF_SIGNED|self.signed/i),
  });
  expect(service.bytes()).toBe(0);
});

it('P7: a trusted certificate for another name: not a byte of the order left', async () => {
  const service = await overTls(elsewhere);
  expect(await send(service.url)).toMatchObject({
    kind: 'not_sent',
    message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
  });
  expect(service.bytes()).toBe(0);
});

it('P7: TLS 1.3 wants a client certificate: the alert comes after our bytes left, so it is unknown', async () => {
  const service = await overTls({
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
    ca: [stranger.cert],
  });
  expect((await send(service.url)).kind).toBe('unknown');
  expect(service.bodies).toEqual([]);
});

it('P7: TLS 1.2 wants a client certificate: the handshake fails before a byte of the order leaves', async () => {
  const service = await overTls({
    requestCert: true,
    rejectUnauthorized: true,
    maxVersion: 'TLSv1.2',
    ca: [stranger.cert],
  });
  const { kind } = await send(service.url);
  // The server ends its side before its alert is read: either way nothing arrived, and unknown is the careful word.
  expect(['not_sent', 'unknown']).toContain(kind);
  expect(service.bytes()).toBe(0);
});

it.each([
  ['never ends', () => undefined],
  ['is cut at once', (socket: Socket) => void socket.destroy()],
  [
    'is answered with something else',
    (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  ],
  ['is reset', (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy())],
])('P7: a handshake that %s: the order is proven not sent', async (_, treat) => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    treat(socket);
  });
  const url = await listen(server, sockets);
  const began = performance.now();
  expect((await send(url, 600)).kind).toBe('not_sent');
  expect(performance.now() - began).toBeLessThan(3000);
});

it('P7: a handshake that ends after the time of the whole request: the order is not sent', async () => {
  const service = await overTls({});
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    setTimeout(() => {
      const there = connect(Number(new URL(service.url).port), '127.0.0.1');
      sockets.add(there.on('error', () => undefined));
      socket.pipe(there).pipe(socket);
    }, 200);
  });
  const url = await listen(server, sockets);
  expect((await send(url, 100)).kind).toBe('not_sent');
  expect(service.bodies).toEqual([]);
});

const endings: [string, (stream: ServerHttp2Stream) => void][] = [
  ['refuses the stream', (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM)],
  ['says goaway', (stream) => stream.session?.goaway(http2.NGHTTP2_NO_ERROR, 0)],
  ['destroys the session', (stream) => stream.session?.destroy()],
];
it.each(endings)(
  'P9: a service that speaks HTTP/2 and %s is spoken to in HTTP/1.1: one body',
  async (_, end) => {
    const service = await startHttp2(true, end);
    expect((await send(service.url)).kind).toBe('accepted');
    expect(service).toMatchObject({ streams: 0, bodies: 1 });
  },
);

it('P9: a service that speaks nothing but HTTP/2 gets no order at all', async () => {
  const service = await startHttp2(false, (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM));
  expect((await send(service.url)).kind).toBe('not_sent');
  expect(service).toMatchObject({ streams: 0, bodies: 0 });
});

/** A service of HTTP/2, with HTTP/1.1 beside it or not; counts what reached it over each. */
async function startHttp2(allowHTTP1: boolean, end: (stream: ServerHttp2Stream) => void) {
  const seen = { streams: 0, bodies: 0, url: '' };
  const sockets = new Set<Socket>();
  const server = createSecureServer({ ...trusted, allowHTTP1 });
  server.on('stream', (stream) => {
    seen.streams += 1;
    stream
      .on('error', () => undefined)
      .on('end', () => (seen.bodies += 1))
      .resume();
    end(stream);
  });
  server.on('request', (request, response) => {
    if (!isHttp1(request)) return;
    request.on('end', () => {
      seen.bodies += 1;
      response.end(accepted);
    });
    request.resume();
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket)).on('sessionError', () => undefined);
  seen.url = await listen(server, sockets);
  return seen;
}

function isHttp1({ httpVersion }: Pick<Http2ServerRequest, 'httpVersion'>): boolean {
  return httpVersion.startsWith('1');
}

async function listen(
  server: Pick<ReturnType<typeof createServer>, 'listen' | 'close' | 'address'>,
  sockets: Set<Socket>,
): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  const address = server.address();
  return `https://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}
