import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { findCollectionWitness } from '../../../src/core/domain/collection-witness.ts';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { parseLossless } from '../../../src/core/service/json.ts';
import { createRequestHandler } from '../../../src/watching/webhooks/receiver-request.ts';
import type { WebhookDelivery } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { guardedKeys, proofOf, receiverSettings } from '../../support/receiver.ts';
import type { Door } from './evolve.ts';

const body =
  '{"event":"payout","reference":"ACME-0001","trx":"T1","statusMessage":"success","amount":"1500.00","data":{"reference":"ACME-0001","status":"failed"}}';
const nothing = (): void => undefined;
const line = 'POST /webhooks/test\n';

/**
 * Requests to the receiver below HTTP: `METHOD PATH\nname: value\n…\n\nBODY`. With the header `signed` the body is
 * signed as the service signs it; the other headers come on top of that.
 */
export async function openWebhooks(): Promise<Door> {
  let error: unknown;
  const added: WebhookDelivery[] = [];
  const handle = createRequestHandler({
    config: {
      mode: 'test',
      keys: { test: guardedKeys },
      receiver: { ...receiverSettings, trustProxy: ['10.0.0.0/8', '127.0.0.1'] },
    },
    clock: systemClock(),
    connections: {
      begin: () => ({ hold: () => true, owe: nothing, end: nothing }),
      ...{ admit: nothing, secured: nothing, wasRefused: () => false, endIdle: nothing, endUnread: nothing },
    },
    deliveries: {
      add: async (delivery) => {
        added.push(delivery);
        return 'durable';
      },
      drained: async () => undefined,
    },
    reject: () => undefined,
    onError(thrown) {
      error = thrown;
    },
    isClosing: () => false,
  });
  return {
    seeds: [
      `${line}signed: 1\n\n${body}`,
      `${line}signed: 1\ntimestamp: 1795300000\nx-webhook-reference: ACME-0001\n\n{"event":"transaction","reference":9007199254740993,"trx":1.50}`,
      `${line}signed: 1\nx-forwarded-for: [2001:db8::1]:443, 10.0.0.1\nx-forwarded-proto: https\ncontent-encoding: identity\n\n{}`,
      `${line}signed: 1\nauthorization: Bearer other\n\n${body}`,
      `${line}payloadsignature: ${'ab'.repeat(64)}\n\n${body}`,
      'GET /webhooks/live?x=1\nexpect: 100-continue\n\n',
    ],
    words: [
      ...[
        'signed: 1\n',
        'payloadsignature: ',
        'merchantsignature: ',
        'authorization: Bearer ',
        'timestamp: ',
      ],
      ...[
        'x-forwarded-for: ',
        '10.0.0.1, ',
        '::ffff:10.0.0.1',
        'x-webhook-reference: ',
        'content-encoding: gzip\n',
      ],
      ...[
        '2026-11-21T10:00:00',
        '"event":',
        '"payout"',
        '"reference":',
        '"trx":',
        '"data":',
        '"transaction"',
      ],
      ...['http://x/webhooks/test', '/webhooks/live', 'hook-secret', 'sk_test_vector_key'],
    ],
    async enter(input) {
      added.length = 0;
      error = undefined;
      const { status, isSigned, sent } = await answer(handle, input);
      if (error !== undefined) throw error;
      if (![200, 401, 403, 404, 405, 413, 415].includes(status)) return `answered ${status}`;
      if ((status === 200) !== (added.length === 1)) return `answered ${status}, kept ${added.length}`;
      const [delivery] = added;
      if (!delivery) return undefined;
      if (!isSigned) return 'kept what nobody signed';
      const json = parseLossless(sent.toString('utf8'));
      findCollectionWitness(json, { referenceKey: 'acme-0001', trx: null });
      const named = nameIn(sent);
      return named === undefined || named === delivery.reference ? undefined : `names ${delivery.reference}`;
    },
  };
}

/** The reference of a body at its top level, where plain JSON has an ordinary one. */
function nameIn(sent: Buffer): string | undefined {
  try {
    const { reference } = JSON.parse(sent.toString('utf8'));
    return typeof reference === 'string' && /^[\w-]{1,50}$/.test(reference) ? reference : undefined;
  } catch {
    return undefined;
  }
}

async function answer(handle: ReturnType<typeof createRequestHandler>, input: Buffer) {
  const end = input.indexOf('\n\n');
  const sent = end < 0 ? Buffer.alloc(0) : input.subarray(end + 2);
  const [first = '', ...lines] = input.subarray(0, Math.max(0, end)).toString('latin1').split('\n');
  const given = new Map(
    lines.map((text) => [text.split(': ')[0]?.toLowerCase() ?? '', text.replace(/^.*?: /, '')]),
  );
  const isSigned = given.delete('signed');
  const request = new IncomingMessage(new Socket());
  [request.method, request.url] = first.split(' ');
  request.headers = Object.fromEntries([...(isSigned ? Object.entries(proofOf(sent)) : []), ...given]);
  request.httpVersion = '1.1';
  if (sent.length > 0) request.push(sent);
  request.push(null);
  const response = new ServerResponse(request);
  handle(request, response);
  for (let turns = 0; turns < 50 && !response.writableEnded; turns++) await setImmediate();
  const status = response.writableEnded ? response.statusCode : 0;
  response.destroy();
  return { status, isSigned, sent };
}
