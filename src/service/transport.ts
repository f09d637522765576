import { type Dispatcher, Pool } from 'undici';
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
  const { timeoutMs } = options;
  const pool = (): Pool =>
    new Pool(options.origin, {
      connections: options.concurrency,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 900,
      keepAliveMaxTimeout: 900,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs },
    });
  const orders = pool();
  const questions = pool();
  const probe = createSentProbe();

  return {
    deliver({ body, mayWrite, ...request }) {
      if (!body)
        return exchange(questions, request, { timeoutMs, wasSent: () => true, mayBegin: () => true });
      const wasSent = probe.watch(body);
      // A request that undici would write a second time is not written (P9).
      const mayBegin = (): boolean => !wasSent() && (mayWrite?.() ?? true);
      return exchange(orders, { ...request, body }, { timeoutMs, wasSent, mayBegin });
    },
    async close() {
      probe.close();
      await Promise.all([orders.destroy(), questions.destroy()]);
    },
  };
}

type Watch = { timeoutMs: number; wasSent: () => boolean; mayBegin: () => boolean };

/** One request and its whole reply. A handler of its own: what undici's `request` builds around each is not needed here. */
function exchange(pool: Pool, request: Dispatcher.DispatchOptions, watch: Watch): Promise<Delivery> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null;
    let late: Error | null = null;
    let reply: Omit<HttpReply, 'text'> | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => {
      late = new TimedOut('The operation was aborted due to timeout');
      controller?.abort(late);
    }, watch.timeoutMs);
    const end = (delivery: Delivery): void => {
      clearTimeout(timer);
      resolve(delivery);
    };
    pool.dispatch(request, {
      onRequestStart(begun) {
        controller = begun;
        // In the tick in which it would be written: connecting, or waiting for a socket, can outlast the intent (P3).
        if (late) begun.abort(late);
        else if (!watch.mayBegin())
          begun.abort(new Error('the intent grew too old before its bytes could leave'));
      },
      onResponseStart(_, status, headers) {
        // What comes before the answer, such as 103, is none.
        if (status >= 200) reply = { status, headers };
      },
      onResponseData(begun, chunk) {
        size += chunk.length;
        if (size > maxReplyBytes) begun.abort(new Error(`the reply is larger than ${maxReplyBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        const text = Buffer.concat(chunks).toString('utf8');
        end(reply ? { kind: 'reply', reply: { ...reply, text } } : failed(new Error('no answer'), watch));
      },
      onResponseError(_, error) {
        end(failed(error, watch));
      },
    });
  });
}

/** The name tells a time-out from what else ends a request. */
class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

function failed(error: unknown, { wasSent }: Watch): Delivery {
  const timedOut = error instanceof Error && /Timeout/.test(error.name);
  return { kind: 'failed', message: describe(error), timedOut, sent: wasSent() };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code} ` : '';
  return `${code}${error.message}`.trim();
}
