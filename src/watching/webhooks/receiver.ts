import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { counted } from '../../core/domain/counted.ts';
import type { WebhookRejectionKind } from '../../core/domain/rejection.ts';
import type { Traces } from '../../core/domain/trace.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import { logEvent } from '../../core/runtime/log-events.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { createGroupCommit } from './group-commit.ts';
import { addressList, plainAddress } from './receiver-address.ts';
import { type ConnectionLimits, createConnections } from './receiver-connections.ts';
import { createRejectionLog } from './receiver-rejections.ts';
import { createRequestHandler } from './receiver-request.ts';
import { createReceiverServer } from './receiver-server.ts';
import { readTlsPair } from './tls.ts';
import { renewTls, type TlsRenewal } from './tls-renewal.ts';
import { recordRejections, storeDeliveries, type WebhookDelivery } from './webhook-inbox.sql.ts';

export type Receiver = {
  /**
   * Starts to accept. `url` is the base of this home's `/webhooks/MODE`. Throws TlsProblem when the certificate or its
   * key is unusable, and when the port is taken.
   */
  listen(): Promise<{ url: string }>;
  /** Uses a renewed certificate now instead of within the minute. Never throws. */
  reload(): Promise<void>;
  /** Stops accepting, answers the requests that were read, and returns when all of it is durable. */
  close(): Promise<void>;
};

type Deps = {
  config: Pick<Config, 'mode' | 'receiver' | 'keys'> & Partial<Pick<Config, 'adminTokens'>>;
  ledger: Ledger;
  clock: Clock;
  log: Logger;
  traces?: Traces;
  /** Called after each commit with the ids to apply; an error of it is logged, never answered. */
  onStored(ids: bigint[]): void | Promise<void>;
  /** Called with the error of a failed commit (P12); its deliveries were answered 503. */
  onFailed?(error: unknown): void;
  /** How long a sender may take for one request, ms. */
  requestTimeoutMs?: number;
  limits?: Partial<ConnectionLimits>;
};

const defaultTimeoutMs = 10_000;
/** How long a request in flight may last after the close began, ms: container runtimes kill after ten seconds. */
const closeGraceMs = 3000;
/** The most bytes of incomplete bodies held in memory; the same again for bodies not yet durable. */
const heldBytes = 64 * 1024 * 1024;
const defaultLimits: ConnectionLimits = { total: 2000, perAddress: 500, heldBytes };

/** The webhook receiver: it answers 200 `success` only after the delivery is durable. */
export function createReceiver(deps: Deps): Receiver {
  const { config, ledger, clock, log, requestTimeoutMs = defaultTimeoutMs } = deps;
  const { tlsCert, tlsKey, host, port } = config.receiver;
  const files = tlsCert === '' ? null : { certFile: tlsCert, keyFile: tlsKey };
  const deliveries = createGroupCommit<WebhookDelivery>({
    clock,
    maxGroup: 500,
    maxWaiting: 2000,
    maxWaitingSize: heldBytes,
    sizeOf: ({ body }) => body.length,
    commit: async (group) => {
      const ids = await ledger.write((trx) => storeDeliveries(trx, group));
      if (ids.length > 0) void notify(deps, ids);
    },
  });
  const noteRejected = createRejectionNotice({ clock, log });
  const rejections = createRejectionLog({
    clock,
    keep: 1000,
    everyMs: 200,
    write: async (kept, rest) => {
      await ledger.write((trx) => recordRejections(trx, kept, rest));
      noteRejected([...kept.map(({ kind, address }) => ({ kind, address, count: 1 })), ...rest]);
    },
    onFailed: (error) => log.error({ err: error }, 'rejected deliveries could not be noted'),
  });
  const connections = createConnections({
    limits: { ...defaultLimits, ...deps.limits },
    isExempt: addressList(config.receiver.trustProxy),
    tellsWhy: files === null,
  });
  let isClosing = false;
  const handler = createRequestHandler({
    config,
    clock,
    connections,
    deliveries,
    reject: rejections.add,
    ...(deps.traces && { traces: deps.traces }),
    onError(error, parent) {
      log.error(
        { err: error, trace_id: parent?.traceId },
        'a delivery could not be stored; it was answered 503',
      );
      deps.onFailed?.(error);
    },
    isClosing: () => isClosing,
  });
  const onMalformed = (socket: Duplex, status: string): boolean => {
    if (!(socket instanceof Socket) || connections.wasRefused(socket)) return false;
    const address = plainAddress(socket.remoteAddress);
    rejections.add({ at: clock.iso(), path: '', kind: 'no_request', detail: status, address });
    return true;
  };
  let opened: { close(): Promise<void>; tls: TlsRenewal | null } | undefined;

  return {
    async listen() {
      const pair = files && (await readTlsPair(files));
      const made = createReceiverServer({ pair, requestTimeoutMs, handler, onMalformed });
      const { server } = made;
      server.prependListener('connection', connections.admit);
      server.prependListener('secureConnection', connections.secured);
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => resolve());
      });
      server.on('error', (error) => log.error({ err: error }, 'the receiver could not accept a connection'));
      const tls =
        files && pair && made.kind === 'https'
          ? renewTls({ server: made.server, files, pair, clock, log })
          : null;
      const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
      opened = { tls, close };
      return { url: `${made.kind}://${hostOf(server.address())}` };
    },
    async reload() {
      await opened?.tls?.reload();
    },
    async close() {
      isClosing = true;
      await opened?.tls?.stop();
      const closed = new AbortController();
      const cut = clock
        .sleep(Math.min(closeGraceMs, requestTimeoutMs), closed.signal)
        .then(() => connections.endUnread());
      const ended = opened?.close();
      connections.endIdle();
      await ended;
      closed.abort();
      await cut;
      await Promise.all([deliveries.drained(), rejections.drained()]);
    },
  };
}

function hostOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') return String(address);
  return `${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

async function notify({ onStored, log }: Deps, ids: bigint[]): Promise<void> {
  try {
    await onStored(ids);
  } catch (error) {
    log.error({ err: error }, 'stored webhooks could not be applied yet');
  }
}

const everyMs = 60_000;
/** So many addresses are named, of however many. */
const mostSources = 10;

/** Logs rejected deliveries, at most one line a minute, so that a flood of forgeries fills no log. */
export function createRejectionNotice({
  clock,
  log,
}: {
  clock: Clock;
  log: Logger;
}): (rejected: readonly { kind: WebhookRejectionKind; count: number; address?: string }[]) => void {
  let waiting = new Map<WebhookRejectionKind, number>();
  let sources = new Set<string>();
  let quietUntil = -Infinity;
  return (rejected) => {
    for (const { kind, count, address } of rejected) {
      waiting.set(kind, (waiting.get(kind) ?? 0) + count);
      if (address !== undefined && sources.size < mostSources) sources.add(address);
    }
    if (waiting.size === 0 || clock.monotonic() < quietUntil) return;
    const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...waiting].map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`);
    logEvent(log, 'webhook_rejected', {
      rejected: Object.fromEntries(waiting),
      sources: [...sources],
      text: `${counted(all, 'webhook')} rejected: ${kinds.join(', ')}`,
    });
    waiting = new Map();
    sources = new Set();
    quietUntil = clock.monotonic() + everyMs;
  };
}
