import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { RequestEnd, ServiceOrder, ServiceQuestion, Transport } from './http.ts';
import { createLine, createLines, type Socket } from './lines.ts';

export type { HttpReply, HttpRequest, RequestEnd as Delivery, Transport } from './http.ts';

/** How long a socket is watched for a surplus answer. */
const afterwardsMs = 200;

/** HTTP/1.1 over undici to one origin. Orders and questions use separate connections. */
export function createTransport(options: {
  origin: string;
  timeoutMs: number;
  concurrency: number;
  /** Awaited before a request that the rate limit has not counted yet: a repeated question, or a control. */
  permit?: () => Promise<void>;
}): Transport {
  const { timeoutMs, permit = () => Promise.resolve() } = options;
  const line = (): Socket =>
    createLine(options.origin, {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 900,
      keepAliveMaxTimeout: 900,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs },
    });
  const orders = createLines(options.concurrency, line);
  const questions = createLines(options.concurrency, line);
  const probe = createSentProbe();
  const plain = { timeoutMs, wasSent: () => true, begins: () => true };

  /** Asks again where the reply may answer another request, on a socket that has carried nothing else. */
  async function ask(
    own: Socket,
    { answers, method, path, headers, query }: ServiceQuestion,
  ): Promise<RequestEnd> {
    const request = { method, path, headers, ...(query && { body: Buffer.from(query, 'utf8') }) };
    const first = await own.send(request, plain);
    if (first.kind === 'failed' || !answers || answers(first.reply)) return first;
    const alone = own.isAlone();
    own.renew();
    if (alone) return first;
    await permit();
    const again = await own.send(request, plain);
    if (again.kind === 'reply' && !answers(again.reply)) own.renew();
    return again;
  }

  /** Sends an order. A reply that may answer another order is followed by a question: one socket answers in order. */
  async function order(
    own: Socket,
    { answers, control, mayWrite, onReply, ...request }: ServiceOrder,
  ): Promise<RequestEnd> {
    const wasSent = probe.watch(request.body);
    // Stops undici from writing the same request a second time (P9).
    const begins = (): boolean => !wasSent() && (mayWrite?.() ?? true);
    const first = await own.send(request, { timeoutMs, wasSent, begins });
    if (first.kind === 'reply') onReply?.(first.reply);
    if (first.kind === 'failed' || !answers || answers(first.reply)) return first;
    const alone = own.isAlone();
    const question = control?.(first.reply);
    if (!question) {
      own.renew();
      return first;
    }
    await permit();
    // A socket that ended with the reply is reported as closed a moment later.
    await sleep(1);
    const next = await own.sendAfter(question, plain);
    // Some services do not answer in order: wait for a surplus answer.
    await sleep(afterwardsMs);
    // If this process stood still meanwhile, what came is read in this turn of the event loop, and closes in the next.
    for (let turn = 0; turn < 2; turn++) await setImmediate();
    const confused = own.isConfused();
    own.renew();
    return confused ? mixedUp : { ...first, control: { next, alone } };
  }

  return {
    deliver: (request) =>
      request.body ? orders.use((own) => order(own, request)) : questions.use((own) => ask(own, request)),
    async close() {
      probe.close();
      await Promise.all([orders.close(), questions.close()]);
    },
  };
}

const mixedUp: RequestEnd = {
  kind: 'failed',
  message: 'the connection brought more answers than requests',
  timedOut: false,
  sent: true,
};

const channel = 'undici:client:sendHeaders';

type SentProbe = {
  /**
   * Starts to watch one request, identified by its body buffer. The function returned says whether its bytes began to
   * leave.
   */
  watch(body: Buffer): () => boolean;
  close(): void;
};

/** Knows which requests undici began to write (P7). Only this event proves it; no error name does. */
function createSentProbe(): SentProbe {
  const sent = new WeakSet<object>();
  const onSend = (message: unknown): void => {
    if (typeof message !== 'object' || message === null || !('request' in message)) return;
    const { request } = message;
    if (typeof request !== 'object' || request === null || !('body' in request)) return;
    if (typeof request.body === 'object' && request.body !== null) sent.add(request.body);
  };
  subscribe(channel, onSend);
  return {
    watch: (body) => () => sent.has(body),
    close: () => {
      unsubscribe(channel, onSend);
    },
  };
}
