import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { foreignPage, type Reply } from './replies.ts';
import type { Arrival } from './routes.ts';
import type { Now } from './sandbox-clock.ts';

const maxBodyBytes = 1_048_576;
const keepAliveMs = 30_000;

/**
 * Listens until stopped. Rejects when the address is not available. `latencyMs`: the delay between the end of a request
 * and its handling. Returns the address without a path.
 */
export async function startHttpServer(deps: {
  host: string;
  port: number;
  latencyMs: number;
  now: Now;
  answer: (arrival: Arrival) => Reply;
}): Promise<{ url: string; stop(): Promise<void> }> {
  const httpDate = (): string => new Date(deps.now()).toUTCString();
  const delayed = new Set<NodeJS.Timeout>();

  function handle(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    send(response, deps.answer(arrivalOf(request, body)), httpDate());
  }

  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBodyBytes) chunks.push(chunk);
    });
    request.on('end', () => {
      if (size > maxBodyBytes) return send(response, foreignPage(413, 'Content Too Large'), httpDate());
      const body = Buffer.concat(chunks);
      if (deps.latencyMs <= 0) return handle(request, response, body);
      const timer = setTimeout(() => {
        delayed.delete(timer);
        handle(request, response, body);
      }, deps.latencyMs);
      delayed.add(timer);
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(deps.port, deps.host, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    url: urlOf(deps.host, server.address()),
    stop: () =>
      new Promise((resolve) => {
        for (const timer of delayed) clearTimeout(timer);
        server.close(() => resolve());
        // Close idle and hanging connections too: a client's keep-alive must not delay a stop.
        server.closeAllConnections();
      }),
  };
}

function urlOf(host: string, address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('http server: expected a port');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function arrivalOf(request: IncomingMessage, body: Buffer): Arrival {
  const target = request.url ?? '/';
  const queryAt = target.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : target.slice(queryAt + 1));
  const page = Number(query.get('page') ?? '1');
  const signature = request.headers.signature;
  return {
    method: request.method ?? 'GET',
    path: queryAt === -1 ? target : target.slice(0, queryAt),
    page: Number.isSafeInteger(page) && page >= 1 ? page : 1,
    token: /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1],
    signature: typeof signature === 'string' ? signature : undefined,
    body,
  };
}

function send(response: ServerResponse, reply: Reply, date: string): void {
  if (reply.kind === 'silence') return;
  if (reply.kind === 'cut') return void response.destroy();
  const text = reply.kind === 'json' ? JSON.stringify(reply.body) : reply.text;
  response.writeHead(reply.status, {
    'content-type': reply.kind === 'json' ? 'application/json' : reply.contentType,
    'content-length': Buffer.byteLength(text),
    date,
    ...(reply.retryAfterSeconds && { 'retry-after': String(reply.retryAfterSeconds) }),
  });
  response.end(text);
}
