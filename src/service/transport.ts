import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import { createSentProbe } from './sent-probe.ts';

export type HttpRequest = {
  method: 'GET' | 'POST';
  /** Path and query, from the origin. */
  path: string;
  headers: Record<string, string>;
  body?: Buffer;
  /** Asked in the tick in which the request would be written; after its no, nothing is written (P3). */
  mayWrite?: () => boolean;
};

export type HttpReply = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
};

/** `failed`: no whole reply came. `sent` false: the request's bytes never began to leave (P7). */
export type Delivery =
  | { kind: 'reply'; reply: HttpReply }
  | { kind: 'failed'; message: string; timedOut: boolean; sent: boolean };

/** The wire: carries one request at most once, never follows a redirect, never throws for what the network does (P9). */
export type Transport = { deliver(request: HttpRequest): Promise<Delivery>; close(): Promise<void> };

const maxReplyBytes = 16 * 1024 * 1024;

/** HTTP/1.1 over undici to one origin; orders and questions have connections of their own. */
export function createTransport(options: {
  origin: string;
  timeoutMs: number;
  concurrency: number;
}): Transport {
  const pool = (): Pool =>
    new Pool(options.origin, {
      connections: options.concurrency,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 900,
      keepAliveMaxTimeout: 900,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      connect: { timeout: options.timeoutMs },
    });
  const orders = pool();
  const questions = pool();
  const probe = createSentProbe();

  return {
    async deliver({ body, mayWrite, ...request }) {
      const wasSent = body ? probe.watch(body) : () => true;
      const lane = body ? gated(orders, () => !wasSent() && (mayWrite?.() ?? true)) : questions;
      try {
        const reply = await lane.request({
          ...request,
          ...(body && { body }),
          signal: AbortSignal.timeout(options.timeoutMs),
        });
        const text = await readText(reply.body);
        return { kind: 'reply', reply: { status: reply.statusCode, headers: reply.headers, text } };
      } catch (error) {
        const timedOut = error instanceof Error && /Timeout/.test(error.name);
        return { kind: 'failed', message: describe(error), timedOut, sent: wasSent() };
      }
    },
    async close() {
      probe.close();
      await Promise.all([orders.destroy(), questions.destroy()]);
    },
  };
}

/**
 * Asks in the tick in which the request would be written: connecting, or waiting for a socket, can outlast the intent
 * (P3), and a request that a transport would write a second time is not written (P9).
 */
function gated(pool: Dispatcher, mayWrite: () => boolean): Dispatcher {
  return pool.compose((dispatch) => (request, handler) => {
    const gate: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    gate.onRequestStart = (controller, context) => {
      if (!mayWrite()) controller.abort(new Error('the intent grew too old before its bytes could leave'));
      handler.onRequestStart?.(controller, context);
    };
    return dispatch(request, gate);
  });
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxReplyBytes) throw new Error(`the reply is larger than ${maxReplyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code} ` : '';
  return `${code}${error.message}`.trim();
}
