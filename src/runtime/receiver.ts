import { BlockList, isIP } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Config, ModeKeys } from '../config.ts';
import type { Mode } from '../domain/payout.ts';
import type { Ledger } from '../ledger/open.ts';
import { type Delivery, type Rejection, recordRejections, storeDeliveries } from '../ledger/webhook-inbox.ts';
import { verifyWebhook } from '../service/webhook-signature.ts';
import type { Clock } from './clock.ts';
import { describeDelivery, headerText } from './delivery.ts';
import { createGroupCommit } from './group-commit.ts';
import type { Logger } from './logger.ts';

export type Receiver = {
  /** Starts to accept; `url` is the base of `/webhooks/test` and `/webhooks/live`. Throws when the port is taken. */
  listen(): Promise<{ url: string }>;
  /** Stops accepting, answers what was read, and returns when all of it is durable. */
  close(): Promise<void>;
};

type Deps = {
  config: Pick<Config, 'receiver' | 'keys'>;
  ledger: Ledger;
  clock: Clock;
  log: Logger;
  /** Called after each commit with the ids yet to be applied; what it throws is logged, never answered. */
  onStored(ids: bigint[]): void | Promise<void>;
  /** How long a sender may take over one request, ms. */
  requestTimeoutMs?: number;
};

const defaultTimeoutMs = 10_000;

/** What may wait for a commit before further deliveries are answered 503. */
const maxWaiting = 2000;

/** The webhook receiver (contract.md, Webhooks in): 200 `success` only after the delivery is durable. */
export function createReceiver(deps: Deps): Receiver {
  const { config, ledger, clock, log } = deps;
  const deliveries = createGroupCommit<Delivery>({
    clock,
    maxGroup: 500,
    maxWaiting,
    commit: async (group) => {
      const ids = await ledger.write((trx) => storeDeliveries(trx, group));
      if (ids.length > 0) void notify(deps, ids);
    },
  });
  const rejections = createGroupCommit<Rejection>({
    clock,
    maxGroup: 500,
    maxWaiting: 1000,
    commit: (group) => ledger.write((trx) => recordRejections(trx, group)),
  });
  const reject = (request: FastifyRequest, reason: string): void => {
    const path = request.url.split('?')[0] ?? '';
    const entry = { at: clock.iso(), path: path.slice(0, 200), reason, address: addressOf(request) };
    rejections
      .add(entry)
      .catch((error: unknown) => log.error({ err: error }, 'a rejected delivery could not be noted'));
  };

  const server = createServer(deps);
  const allowed = allowList(config.receiver.allowFrom);
  server.addHook('onRequest', async (request, reply) => {
    const refusal = refuseUnread(request, config.keys, allowed);
    if (refusal) {
      if (refusal.reason) reject(request, refusal.reason);
      return answer(reply, refusal.status, refusal.text);
    }
    // The content type is kept for the record but decides nothing: the bytes are what was signed.
    request.contentType = request.raw.headers['content-type'];
    request.raw.headers['content-type'] = 'application/octet-stream';
  });
  server.setErrorHandler(async (error, request, reply) => {
    const status = statusOf(error);
    if (status < 500) {
      reject(request, `${status} ${error instanceof Error ? error.message : ''}`.slice(0, 200));
      return answer(reply, status, status === 413 ? 'too large' : 'not understood');
    }
    log.error({ err: error }, 'a delivery could not be stored');
    return unavailable(reply);
  });
  server.setNotFoundHandler((_request, reply) => answer(reply, 404, 'not found'));

  server.post<{ Params: { mode: string } }>('/webhooks/:mode', async (request, reply) => {
    const mode = modeOf(request.params.mode);
    const keys = mode && config.keys[mode];
    if (!mode || !keys) return answer(reply, 404, 'not found');
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const { headers } = request;
    const proof = {
      payloadsignature: headerText(headers.payloadsignature),
      merchantsignature: headerText(headers.merchantsignature),
      authorization: headers.authorization,
    };
    const verdict = verifyWebhook(body, proof, keys);
    if (verdict.kind === 'rejected') {
      reject(request, verdict.reason);
      return answer(reply, 401, 'not authentic');
    }
    const delivery = describeDelivery({
      mode,
      body,
      headers: { ...headers, 'content-type': request.contentType },
      authorization: verdict.authorization,
      address: addressOf(request),
      receivedAt: clock.iso(),
      nowMs: clock.now(),
      replayWindowMs: config.receiver.replayWindowSeconds * 1000,
    });
    return (await deliveries.add(delivery)) === 'durable'
      ? answer(reply, 200, 'success')
      : unavailable(reply);
  });

  return {
    listen: async () => ({
      url: await server.listen({ host: config.receiver.host, port: config.receiver.port }),
    }),
    async close() {
      const closed = new AbortController();
      // Node no longer looks for slow requests once it closes, so a sender that never ends would hold us for ever.
      const cut = clock
        .sleep(deps.requestTimeoutMs ?? defaultTimeoutMs, closed.signal)
        .then(() => server.server.closeAllConnections());
      await server.close();
      closed.abort();
      await cut;
      await Promise.all([deliveries.drained(), rejections.drained()]);
    },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The content type as it came. */
    contentType: string | undefined;
  }
}

function createServer({ config, requestTimeoutMs = defaultTimeoutMs }: Deps): FastifyInstance {
  const { trustProxy, maxBodyBytes } = config.receiver;
  const server = Fastify({
    bodyLimit: maxBodyBytes,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    requestTimeout: requestTimeoutMs,
    // Node looks for slow requests only this often, and swaps the two limits when the one for headers is the longer.
    http: { connectionsCheckingInterval: Math.min(1000, requestTimeoutMs), headersTimeout: requestTimeoutMs },
    forceCloseConnections: 'idle',
  });
  server.decorateRequest('contentType', undefined);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
  return server;
}

/** What can be refused before the body is read; a reason is noted for `status`. */
function refuseUnread(
  request: FastifyRequest,
  keys: { test?: ModeKeys; live?: ModeKeys },
  allowed: (address: string) => boolean,
): { status: number; text: string; reason?: string } | undefined {
  const mode = modeOf(/^\/webhooks\/([a-z]+)(?:\?|$)/.exec(request.url)?.[1] ?? '');
  if (!mode || request.method !== 'POST') return { status: 404, text: 'not found' };
  if (!keys[mode]?.secretKeys.length)
    return { status: 404, text: 'not found', reason: `no keys for ${mode} mode` };
  if (!allowed(addressOf(request)))
    return { status: 403, text: 'source address not allowed', reason: 'source address not allowed' };
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity')
    return { status: 415, text: 'send it uncompressed', reason: `compressed (${encoding.slice(0, 40)})` };
  return undefined;
}

function modeOf(text: string): Mode | undefined {
  return text === 'test' || text === 'live' ? text : undefined;
}

/** The sender's address; an IPv4 address that came over an IPv6 socket in its plain form. */
function addressOf(request: FastifyRequest): string {
  return request.ip.replace(/^::ffff:(?=\d+\.)/i, '');
}

function allowList(entries: string[]): (address: string) => boolean {
  if (entries.length === 0) return () => true;
  const list = new BlockList();
  for (const entry of entries) {
    const [host = '', prefix] = entry.split('/');
    const family = isIP(host) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(host, family);
    else list.addSubnet(host, Number(prefix), family);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}

function statusOf(error: unknown): number {
  const status =
    typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 ? status : 503;
}

function answer(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/plain').send(text);
}

function unavailable(reply: FastifyReply): FastifyReply {
  return answer(reply.header('retry-after', '5'), 503, 'try again later');
}

async function notify({ onStored, log }: Deps, ids: bigint[]): Promise<void> {
  try {
    await onStored(ids);
  } catch (error) {
    log.error({ err: error }, 'stored webhooks could not be applied yet');
  }
}
