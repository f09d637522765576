import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { readTraceparent, type TraceParent, type Traces } from '../../core/domain/trace.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Role } from '../../core/settings/settings-schema.ts';
import { addressList } from '../../watching/webhooks/receiver-address.ts';
import { createConnections, type Turn } from '../../watching/webhooks/receiver-connections.ts';
import { createReceiverServer } from '../../watching/webhooks/receiver-server.ts';
import { readTlsPair } from '../../watching/webhooks/tls.ts';
import { renewTls, type TlsRenewal } from '../../watching/webhooks/tls-renewal.ts';
import { type Caller, type CallerAccess, createAccess, RefusedRequest, type Right } from './access.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set before any handler runs. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** What a caller needs for this route. Left out: `figures` for GET and HEAD, `decide` for the rest. */
    right?: Right | 'none';
    /** Only for a program that sends a token, even from this machine. */
    token?: boolean;
    /** The body is a file that may take long: its handler sees to one that stalls. */
    streams?: boolean;
  }
}

export type AdminServer = ReturnType<typeof createAdminServer>;

/** What the routes of a page or an endpoint get. */
export type RouteDeps = {
  /** Returns the caller. Throws {@link RefusedRequest} without the right: for handlers that show more to some callers. */
  requireRight(request: FastifyRequest, right: Right): Caller;
  /** The people who have a role, by the names of their tokens. */
  holders(role: Role): string[];
  /** The holder of a token that came otherwise than in a header, such as a form. Throws {@link RefusedRequest}. */
  nameOf(request: FastifyRequest, token: string): string;
  /** Begins a session for the holder of the token; returns its cookie. Throws {@link RefusedRequest}. */
  signIn(request: FastifyRequest, token: string): string;
  /** Ends the session of the request; returns the cookie that removes it. */
  signOut(request: FastifyRequest): string;
  /** Aborted when the server closes: a stream of events must end then. */
  closing: AbortSignal;
};

/** Adds routes to the server. Each is guarded by the right that it names (`config: { right }`). */
export type Routes = (server: FastifyInstance, deps: RouteDeps) => void;

const requestTimeoutMs = 10_000;
const closeGraceMs = 3000;
const mostBytes = 65_536;
const connectionLimits = { total: 500, perAddress: 100, heldBytes: 8 * 1024 * 1024 };

/**
 * The admin server of `serve`: a server of its own beside the webhook receiver, with the same limits on slow and many
 * connections. It guards each route; what the routes answer is given.
 */
export function createAdminServer(deps: {
  config: Pick<Config, 'admin' | 'adminTokens'>;
  clock: Clock;
  log: Logger;
  traces?: Traces;
  routes: readonly Routes[];
}) {
  const { config, clock, log } = deps;
  const { host, port, tlsCert, tlsKey, trustProxy } = config.admin;
  const files = tlsCert === '' ? null : { certFile: tlsCert, keyFile: tlsKey, section: 'admin' as const };
  const access = createAccess({ admin: config.admin, tokens: config.adminTokens, clock });
  const closing = new AbortController();
  const connections = createConnections({
    limits: connectionLimits,
    isExempt: addressList(trustProxy),
    tellsWhy: files === null,
  });
  const routeDeps: RouteDeps = {
    requireRight(request, right) {
      access.demand(request.caller, right);
      return request.caller;
    },
    holders: access.holders,
    nameOf: (request, token) => access.nameOf(token, access.addressOf(request.raw)),
    signIn: (request, token) => access.signIn(request.raw, token),
    signOut: (request) => access.signOut(request.raw),
    closing: closing.signal,
  };
  let opened: { app: FastifyInstance; server: Server; tls: TlsRenewal | null } | undefined;

  return {
    /** Starts to answer. Throws TlsProblem when the certificate or its key is unusable, and when the port is taken. */
    async listen(): Promise<{ url: string }> {
      const pair = files && (await readTlsPair(files));
      let made: ReturnType<typeof createReceiverServer> | undefined;
      const app = fastify({
        bodyLimit: mostBytes,
        // A reload ends the server: what is open then is answered all the same.
        return503OnClosing: false,
        routerOptions: { maxParamLength: 200 },
        rewriteUrl: ({ url = '/' }) => readableUrl(url),
        serverFactory(handler) {
          made = createReceiverServer({
            pair,
            requestTimeoutMs,
            handler,
            onMalformed: () => true,
            longBodies: true,
          });
          return made.server as Server;
        },
      });
      if (!made) throw new Error('the admin server has no listener');
      const { server } = made;
      guard(app, { access, connections, log, traces: deps.traces });
      for (const add of deps.routes) add(app, routeDeps);
      await app.ready();
      server.prependListener('connection', connections.admit);
      server.prependListener('secureConnection', connections.secured);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => resolve());
      });
      server.on('error', (error) =>
        log.error({ err: error }, 'the admin server could not accept a connection'),
      );
      const tls =
        files && pair && made.kind === 'https'
          ? renewTls({ server: made.server, files, pair, clock, log })
          : null;
      opened = { app, server: server as Server, tls };
      return { url: `${made.kind}://${hostOf(server.address())}` };
    },
    /** Uses a renewed certificate now instead of within the minute. Never throws. */
    async reload(): Promise<void> {
      await opened?.tls?.reload();
    },
    /** Ends streams, answers what was asked, and closes. */
    async close(): Promise<void> {
      closing.abort();
      await opened?.tls?.stop();
      if (!opened) return;
      const { app, server } = opened;
      const cut = setTimeout(() => server.closeAllConnections(), closeGraceMs);
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.endIdle();
      await ended;
      clearTimeout(cut);
      await app.close();
    },
  };
}

type Guard = {
  access: CallerAccess;
  connections: ReturnType<typeof createConnections>;
  log: Logger;
  traces: Traces | undefined;
};

/** Every request: finds the caller and the right, and adds headers that keep an answer from being cached or framed. */
function guard(app: FastifyInstance, { access, connections, log, traces }: Guard): void {
  const turns = new WeakMap<IncomingMessage, Turn>();
  app.decorateRequest('caller');
  app.addHook('onRequest', async (request, reply) => {
    const turn = connections.begin(request.raw.socket);
    turns.set(request.raw, turn);
    const fields = { method: request.method, route: request.routeOptions.url ?? '' };
    const span = traces?.isOn && traces.begin({ name: 'admin request', parent: parentOf(request), fields });
    reply.raw.once('close', () => {
      turn.end();
      if (span) span.end({ http_status: reply.statusCode });
    });
    // First, so that a request that is turned away may not dawdle either.
    const patient = endSlowBody(request, reply);
    const caller = access.identify(request.raw);
    request.caller = caller;
    const { config } = request.routeOptions;
    const right = config.right ?? (isReading(request) ? 'figures' : 'decide');
    if (right !== 'none') access.demand(caller, right);
    // A browser sends the cookie of a session by itself, a program holds its token.
    if (config.token === true && (caller.kind !== 'token' || caller.signedIn))
      throw access.noTokenFor(right === 'none' ? 'read' : right);
    if (config.streams === true) patient();
  });
  // The body was read: from here on an answer is owed.
  app.addHook('preHandler', async (request) => turns.get(request.raw)?.owe());
  app.addHook('onSend', async (_request, reply) => {
    for (const [name, value] of Object.entries(safeHeaders))
      if (!reply.hasHeader(name)) reply.header(name, value);
  });
  app.setNotFoundHandler(async (_request, reply) =>
    reply.code(404).send({ problem: 'there is no such page' }),
  );
  app.setErrorHandler(async (error, request, reply) =>
    answerError(error, reply, log.child({ trace_id: parentOf(request)?.traceId })),
  );
}

function parentOf({ headers }: FastifyRequest): TraceParent | undefined {
  return readTraceparent(headers.traceparent);
}

/**
 * Ends a request whose body is not whole in time, unless the returned function is called: Node's own limit is one for
 * all requests, and a file may take longer than a form.
 */
function endSlowBody({ raw }: FastifyRequest, reply: FastifyReply): () => void {
  const slow = setTimeout(() => {
    if (raw.complete) return;
    if (!reply.raw.headersSent) reply.raw.writeHead(408, { connection: 'close' }).end();
    // Not `end` alone: who goes on sending would keep the connection.
    raw.socket.destroySoon();
  }, requestTimeoutMs);
  const stop = (): void => clearTimeout(slow);
  raw.once('close', stop).once('end', stop);
  return stop;
}

const safeHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** An address whose escapes cannot be read names nothing: they stand for themselves, so that its face answers as it always does. */
function readableUrl(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}

function isReading({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function answerError(error: unknown, reply: FastifyReply, log: Logger): FastifyReply {
  if (error instanceof RefusedRequest) {
    if (error.statusCode === 401)
      reply.header('www-authenticate', 'Bearer realm="counterfoil", Basic realm="counterfoil"');
    if (error.retryAfterSeconds !== null) reply.header('retry-after', String(error.retryAfterSeconds));
    return reply.code(error.statusCode).send({ problem: error.message, fix: error.fix });
  }
  const status =
    error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
      ? error.statusCode
      : 500;
  if (status < 500) return reply.code(status).send({ problem: 'the request could not be read' });
  log.error({ err: error }, 'the admin server could not answer');
  return reply.code(500).send({ problem: 'it failed; the log says why' });
}

function hostOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return String(address);
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
