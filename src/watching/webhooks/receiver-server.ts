import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TlsPair } from './tls.ts';
import { oldestTls } from './tls-renewal.ts';

export type ReceiverServer = { kind: 'http'; server: Server } | { kind: 'https'; server: TlsServer };

/** How long a connection may wait between two requests, ms. */
const idleMs = 30_000;
/** How long a sender of CONNECT may take to receive the refusal, ms. */
const tunnelMs = 500;

/** The server with its limits on headers and time. Malformed requests are answered and reported to `onMalformed`. */
export function createReceiverServer(deps: {
  pair: TlsPair | null;
  requestTimeoutMs: number;
  /** The time limit is one for headers; the handler sees to slow bodies. */
  longBodies?: boolean;
  handler: RequestListener;
  /** Returns false when it was answered already. */
  onMalformed(socket: Duplex, status: string): boolean;
}): ReceiverServer {
  const { pair, requestTimeoutMs, longBodies = false, handler } = deps;
  const options: ServerOptions = {
    requestTimeout: longBodies ? 0 : requestTimeoutMs,
    // Node swaps the two limits if the one for headers is longer.
    headersTimeout: requestTimeoutMs,
    // Node checks for slow requests only this often.
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
    keepAliveTimeout: idleMs,
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
  };
  const made: ReceiverServer = pair
    ? {
        kind: 'https',
        server: createTlsServer({
          ...options,
          cert: pair.cert,
          key: pair.key,
          minVersion: oldestTls,
          handshakeTimeout: requestTimeoutMs,
        }),
      }
    : { kind: 'http', server: createServer(options) };
  const { server } = made;
  // A sender may close its half after the request: Node would otherwise close ours before the delivery is durable.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('request', handler);
  server.on('checkContinue', handler);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = statusOf(error.code);
    if (status && deps.onMalformed(socket, status) && socket.writable) socket.end(emptyReply(status));
    socket.destroy();
  });
  // CONNECT asks for a tunnel. Its socket now belongs to this code, which must read the rest and the end.
  server.on('connect', (_request, socket) => {
    const cut = setTimeout(() => socket.destroy(), tunnelMs);
    socket.once('close', () => clearTimeout(cut));
    socket.on('error', () => socket.destroy());
    socket.resume();
    socket.end(emptyReply('405 Method Not Allowed', 'Allow: POST\r\n'));
  });
  return made;
}

/** The status for a request that broke off; null for a sender that merely disconnected. */
function statusOf(code: string | undefined): string | null {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return '408 Request Timeout';
    case 'HPE_HEADER_OVERFLOW':
      return '431 Request Header Fields Too Large';
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return '413 Payload Too Large';
    case 'ECONNRESET':
    case 'EPIPE':
      return null;
    default:
      return '400 Bad Request';
  }
}

function emptyReply(status: string, headers = ''): string {
  return `HTTP/1.1 ${status}\r\n${headers}Connection: close\r\nContent-Length: 0\r\n\r\n`;
}
