import { DecoratorHandler, type Dispatcher, Pool } from 'undici';
import type { Outcome } from '../domain/outcome.ts';
import { type AnswerRules, judgeAnswer } from './answer.ts';
import { parseLossless, readEnvelope } from './json.ts';
import { readListPage } from './pages.ts';
import { createSentProbe } from './sent-probe.ts';
import { signBody } from './signing.ts';
import type { LookUpReply, ServiceClient, ServiceTrouble } from './types.ts';

export type ClientOptions = {
  baseUrl: string;
  /** The Bearer of everything but bank_transfer. */
  secretKey: string;
  /** The Bearer of bank_transfer, and the key of its Signature. */
  orderKey: string;
  signingKey: string;
  timeoutMs: number;
  concurrency: number;
  rules: AnswerRules;
};

/** Nobody's Retry-After may park payouts for longer than this. */
const longestPauseMs = 3_600_000;
const maxReplyBytes = 16 * 1024 * 1024;

/**
 * The service over HTTP/1.1. Orders and questions have pools of their own, so that a slow list never delays an order.
 * Neither retries nor follows redirects; a socket idle for a second is not used for an order again (P9).
 */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const { origin, pathname } = new URL(options.baseUrl);
  const prefix = `${pathname.replace(/\/$/, '')}/api/v1`;
  const pool = (connections: number): Pool =>
    new Pool(origin, {
      connections,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: 900,
      keepAliveMaxTimeout: 900,
      headersTimeout: options.timeoutMs,
      bodyTimeout: options.timeoutMs,
      connect: { timeout: options.timeoutMs },
    });
  const orders = pool(options.concurrency);
  const questions = pool(options.concurrency);
  const probe = createSentProbe();

  async function bankTransfer(body: string, reference: string, beforeWrite: () => boolean): Promise<Outcome> {
    if (!beforeWrite()) return { kind: 'not_sent', message: 'the intent was too old to send' };
    const bytes = Buffer.from(body, 'utf8');
    const wasSent = probe.watch(bytes);
    try {
      const reply = await gated(orders, () => !wasSent() && beforeWrite()).request({
        path: `${prefix}/bank_transfer`,
        method: 'POST',
        headers: {
          authorization: `Bearer ${options.orderKey}`,
          signature: signBody(body, options.signingKey),
          'content-type': 'application/json',
          accept: 'application/json',
        },
        body: bytes,
        signal: AbortSignal.timeout(options.timeoutMs),
      });
      const text = await readText(reply.body);
      return judgeAnswer(
        { httpStatus: reply.statusCode, text, retryAfterMs: readRetryAfter(reply.headers) },
        reference,
        options.rules,
      );
    } catch (error) {
      const message = describe(error);
      if (!wasSent()) return { kind: 'not_sent', message };
      return {
        kind: 'unknown',
        code: null,
        httpStatus: null,
        message: `no answer: ${message}`,
        raw: '',
        halts: false,
      };
    }
  }

  async function ask(method: 'GET' | 'POST', path: string): Promise<LookUpReply | ServiceTrouble> {
    try {
      const reply = await questions.request({
        path: `${prefix}/${path}`,
        method,
        headers: {
          authorization: `Bearer ${options.secretKey}`,
          'content-type': 'application/json',
          accept: 'application/json',
        },
        signal: AbortSignal.timeout(options.timeoutMs),
      });
      const raw = await readText(reply.body);
      const date = Date.parse(String(reply.headers.date ?? ''));
      return judgeReply(
        reply.statusCode,
        raw,
        Number.isNaN(date) ? null : date,
        readRetryAfter(reply.headers),
      );
    } catch (error) {
      const timedOut = error instanceof Error && /Timeout/.test(error.name);
      return trouble(timedOut ? 'timeout' : 'unreachable', describe(error), null);
    }
  }

  return {
    bankTransfer,
    async listPage(page, status) {
      const reply = await ask('GET', `fetch_all_transfers${status ? `/${status}` : ''}?page=${page}`);
      if (reply.kind === 'trouble') return reply;
      const read = readListPage(reply.json, reply.date);
      return read.kind === 'page' ? read : trouble('not_understood', read.why, reply.httpStatus);
    },
    fetchTransferDetails: (reference) =>
      ask('GET', `fetch_transfer_details/${encodeURIComponent(reference)}`),
    verifyTransaction: (reference) => ask('GET', `transaction/verify/${encodeURIComponent(reference)}`),
    resendWebhook: (kind, reference) =>
      ask('POST', `resend_${kind}_webhook/${encodeURIComponent(reference)}`),
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

function judgeReply(
  httpStatus: number,
  raw: string,
  date: number | null,
  retryAfterMs: number | null,
): LookUpReply | ServiceTrouble {
  const json = parseLossless(raw);
  const envelope = readEnvelope(json);
  const said = envelope ? `${envelope.status} ${envelope.message}`.trim() : `HTTP ${httpStatus}`;
  if (httpStatus === 429) return { ...trouble('throttled', said, httpStatus), retryAfterMs };
  if (httpStatus === 401 || httpStatus === 403) return trouble('unauthorised', said, httpStatus);
  if (httpStatus >= 500) return { ...trouble('server_error', said, httpStatus), retryAfterMs };
  if (httpStatus >= 300 && httpStatus < 400)
    return trouble('not_understood', `a redirect (HTTP ${httpStatus})`, httpStatus);
  if (json === undefined) return trouble('not_understood', `HTTP ${httpStatus}, not JSON`, httpStatus);
  return { kind: 'reply', httpStatus, json, raw, date };
}

function trouble(
  reason: ServiceTrouble['reason'],
  message: string,
  httpStatus: number | null,
): ServiceTrouble {
  return { kind: 'trouble', reason, message, httpStatus, retryAfterMs: null };
}

/**
 * Retry-After as seconds or an HTTP date, in milliseconds; a date counts from the reply's own Date, so that a clock of
 * ours that is off does not matter. null when absent or unreadable.
 */
function readRetryAfter(headers: Record<string, string | string[] | undefined>): number | null {
  const value = headers['retry-after'];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined) return null;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, longestPauseMs);
  const wait = Date.parse(text) - Date.parse(String(headers.date));
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), longestPauseMs);
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
