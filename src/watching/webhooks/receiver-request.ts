import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRedactor } from '../../core/domain/redact.ts';
import type { WebhookRejectionKind } from '../../core/domain/rejection.ts';
import { inSpan, readTraceparent, type TraceParent, type Traces } from '../../core/domain/trace.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import { type Config, secretsOf } from '../../core/settings/settings.ts';
import { describeDelivery, headerText, namedReference } from './delivery.ts';
import type { GroupCommit } from './group-commit.ts';
import { addressList, createSourceReader, type RequestSource } from './receiver-address.ts';
import type { Connections, Turn } from './receiver-connections.ts';
import type { Rejection, WebhookDelivery } from './webhook-inbox.sql.ts';
import { createWebhookVerifier, type VerifyWebhook } from './webhook-signature.ts';

type Deps = {
  config: Pick<Config, 'mode' | 'receiver' | 'keys'> & Partial<Pick<Config, 'adminTokens'>>;
  clock: Clock;
  connections: Connections;
  deliveries: GroupCommit<WebhookDelivery>;
  reject(rejection: Rejection): void;
  /** What made a delivery be answered 503 although there was room for it. */
  onError(error: unknown, parent?: TraceParent): void;
  traces?: Traces;
  isClosing(): boolean;
};

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

type Answer = { status: number; text: string; headers?: Record<string, string> };
/** A rejection is noted for `status`; without one it was no delivery. */
type Refusal = Answer & { rejection?: { kind: WebhookRejectionKind; detail: string } };
/** What is known of a request before its body is read. */
type Heard = { source: RequestSource; verify: VerifyWebhook };

const success: Answer = { status: 200, text: 'success' };
const unavailable: Answer = { status: 503, text: 'try again later', headers: { 'retry-after': '5' } };

/** Answers the requests of the receiver. Whatever one holds, it ends in an answer. */
export function createRequestHandler(deps: Deps): RequestHandler {
  const { mode, receiver, keys } = deps.config;
  const sourceOf = createSourceReader(addressList(receiver.trustProxy));
  const isAllowed = receiver.allowFrom.length === 0 ? () => true : addressList(receiver.allowFrom);
  const redact = createRedactor(secretsOf(deps.config));
  const own = keys[mode];
  const verify = own && own.secretKeys.length > 0 ? createWebhookVerifier(own) : undefined;
  const other = mode === 'test' ? 'live' : 'test';

  /** What can be refused before the body is read. */
  function hear(request: IncomingMessage): Heard | Refusal {
    const path = pathOf(request);
    // Acknowledged here, it would wait in a ledger that no process of its mode reads (P24).
    if (path === `/webhooks/${other}`)
      return { status: 404, text: 'not found', rejection: { kind: 'other_mode', detail: other } };
    if (path !== `/webhooks/${mode}`) return { status: 404, text: 'not found' };
    if (request.method !== 'POST')
      return { status: 405, text: 'webhooks come by POST', headers: { allow: 'POST' } };
    if (!verify) return { status: 404, text: 'not found', rejection: { kind: 'no_keys', detail: mode } };
    const source = sourceOf(request);
    if (!isAllowed(source.address)) {
      const rejection = { kind: 'source_address' as const, detail: '' };
      return { status: 403, text: 'source address not allowed', rejection };
    }
    const encoding = headerText(request.headers['content-encoding'])?.trim().toLowerCase() ?? '';
    if (encoding !== '' && encoding !== 'identity')
      return {
        status: 415,
        text: 'send it uncompressed',
        rejection: { kind: 'compressed', detail: encoding.slice(0, 40) },
      };
    const announced = Number(request.headers['content-length'] ?? 0);
    return announced > receiver.maxBodyBytes ? tooLarge(receiver.maxBodyBytes) : { source, verify };
  }

  async function judge(request: IncomingMessage, turn: Turn, heard: Heard): Promise<Refusal> {
    const read = await receiveBody(request, receiver.maxBodyBytes, turn);
    if (read.kind === 'too_large') return tooLarge(receiver.maxBodyBytes);
    if (read.kind !== 'body') return unavailable;
    turn.owe();
    const { headers } = request;
    const verdict = heard.verify(read.body, {
      payloadsignature: headerText(headers.payloadsignature),
      merchantsignature: headerText(headers.merchantsignature),
      authorization: headers.authorization,
    });
    if (verdict.kind === 'rejected') {
      const rejection = { kind: verdict.why, detail: namedReference(read.body) };
      return { status: 401, text: 'not authentic', rejection };
    }
    const delivery = describeDelivery({
      body: read.body,
      headers,
      authorization: verdict.authorization,
      signedWith: verdict.signedWith,
      source: heard.source,
      receivedAt: deps.clock.iso(),
      nowMs: deps.clock.now(),
      replayWindowMs: receiver.replayWindowSeconds * 1000,
      redact,
    });
    return (await deps.deliveries.add(delivery)) === 'durable' ? success : unavailable;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const turn = deps.connections.begin(request.socket);
    response.once('close', () => turn.end());
    const heard = hear(request);
    const isHeard = 'verify' in heard;
    const asksFirst = request.headers.expect !== undefined && request.httpVersion !== '1.0';
    if (isHeard && asksFirst) response.writeContinue();
    const parent = readTraceparent(request.headers.traceparent);
    const work = (): Promise<Refusal> =>
      isHeard
        ? judge(request, turn, heard).catch((error: unknown) => failed(error, parent))
        : Promise.resolve(heard);
    const answer = await inSpan(
      isHeard && deps.traces?.isOn ? deps.traces : undefined,
      { name: 'webhook received', parent },
      {
        work,
        said: ({ status }) => ({ http_status: status }),
      },
    );
    if (answer.rejection !== undefined) {
      const { kind, detail } = answer.rejection;
      const { address } = sourceOf(request);
      const path = redact(pathOf(request)).slice(0, 200);
      deps.reject({ at: deps.clock.iso(), path, kind, detail: redact(detail), address });
    }
    // Whether a sender that was refused before it began will still send its body cannot be known.
    send(response, answer, deps.isClosing() || (asksFirst && !isHeard));
  }
  function failed(error: unknown, parent: TraceParent | undefined): Refusal {
    deps.onError(error, parent);
    return unavailable;
  }
  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      deps.onError(error);
      response.destroy();
    });
  };
}

function tooLarge(maxBytes: number): Refusal {
  return { status: 413, text: 'too large', rejection: { kind: 'too_large', detail: `${maxBytes} bytes` } };
}

/** The path of a request target in origin or absolute form (RFC 9112, 3.2); empty for any other. */
function pathOf(request: IncomingMessage): string {
  return /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(request.url ?? '')?.[1] ?? '';
}

function send(response: ServerResponse, { status, text, headers }: Answer, isLast: boolean): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'text/plain',
    'content-length': text.length,
    ...headers,
    ...(isLast && { connection: 'close' }),
  });
  response.end(text);
}

/** `gone`: the sender disconnected; `no_room`: other bodies fill the available memory. */
type BodyRead =
  | { kind: 'body'; body: Buffer }
  | { kind: 'too_large' }
  | { kind: 'no_room' }
  | { kind: 'gone' };

/** The overhead of each piece of a body: a sender may send single bytes. */
const pieceBytes = 256;

/** Reads a request's body, at most `maxBytes` of it. Always resolves; a body that is too large is not kept. */
function receiveBody(request: IncomingMessage, maxBytes: number, turn: Turn): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (read: BodyRead): void => {
      request.off('data', take);
      resolve(read);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) end({ kind: 'too_large' });
      else if (turn.hold(chunk.length + pieceBytes)) chunks.push(chunk);
      else end({ kind: 'no_room' });
    };
    request.on('data', take);
    request.once('end', () => {
      const [only] = chunks;
      end({ kind: 'body', body: only && chunks.length === 1 ? only : Buffer.concat(chunks) });
    });
    request.once('close', () => end({ kind: 'gone' }));
    request.once('error', () => end({ kind: 'gone' }));
  });
}
