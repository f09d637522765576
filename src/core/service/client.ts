import type { AttemptOutcome } from '../domain/outcome.ts';
import type { Redact } from '../domain/redact.ts';
import { inSpan, type SpanFields, type TraceSubject, type Traces } from '../domain/trace.ts';
import { isNotFound } from '../domain/witness.ts';
import { type AnswerRules, judgeAnswer } from './answer.ts';
import { readAccountName, readBalances } from './extras.ts';
import type { HttpReply, HttpRequest, RequestEnd, ServiceQuestion, Transport } from './http.ts';
import { mentions, parseLossless, readEnvelope } from './json.ts';
import { dateOf, judgePage, judgeReply, schemeTrouble, trouble, unanswered } from './judge-reply.ts';
import { replyDigest } from './pages.ts';
import { readRetryAfter } from './retry-after.ts';
import { signBody } from './signing.ts';
import type { LookUpReply, ServiceClient, ServiceTrouble } from './types.ts';

export type ClientOptions = {
  /** The service's address; its path, if any, comes before `/api/v1`. */
  baseUrl: string;
  transport: Transport;
  /** The Bearer token of every request except bank_transfer. */
  secretKey: string;
  /** The Bearer token of bank_transfer. */
  orderKey: string;
  signingKey: string;
  rules: AnswerRules;
  /** A monotonic clock, in ms; the runtime's unless given. */
  monotonic?: () => number;
  /** Removes our secrets from what the service sends. It may echo them, and replies are stored. */
  redact?: Redact;
  /** Begins the spans that the requests stand in. Absent: requests carry no `traceparent`. */
  traces?: Traces;
};

/** A question as it goes with this `traceparent`. */
type InTrace = (traceparent: string | undefined) => ServiceQuestion;

/** Speaks the payments service's interface. The client judges what a reply means; the transport carries it. */
export function createServiceClient(options: ClientOptions): ServiceClient {
  const { transport, redact = (text: string) => text, monotonic = () => performance.now() } = options;
  let heard: { date: number; at: number } | null | undefined;
  let isAnswered = false;
  /** On the monotonic clock: a control of the reply can take long, and other orders must wait from here on. */
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const url = new URL(options.baseUrl);
  const prefix = `${url.pathname.replace(/\/$/, '')}/api/v1`;
  const headersWith = (key: string, traceparent: string | undefined): Record<string, string> => ({
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json',
    // Without this header a server may compress (RFC 9110, 12.5.3), which replies of this size do not need.
    'accept-encoding': 'identity',
    ...(traceparent !== undefined && { traceparent }),
  });

  function noted(delivery: RequestEnd): RequestEnd {
    isAnswered ||= delivery.kind === 'reply';
    // A server that has answered speaks this scheme: then a broken connection is only that.
    return delivery.kind === 'reply' || isAnswered
      ? delivery
      : { ...delivery, message: schemeTrouble(delivery.message, url) };
  }

  /** Keeps the time of a reply that the service made. A proxy on this machine may share its stepped clock (P38). */
  function hear(reply: HttpReply): void {
    const date = dateOf(reply);
    if (date !== null) heard = { date, at: monotonic() };
    heard ??= null;
  }

  async function deliver(request: HttpRequest): Promise<RequestEnd> {
    const delivery = noted(await transport.deliver(request));
    if (delivery.kind === 'failed') return { ...delivery, message: redact(delivery.message) };
    if (isServices(delivery.reply)) hear(delivery.reply);
    return { ...delivery, reply: { ...delivery.reply, text: redact(delivery.reply.text) } };
  }

  async function order(
    body: string,
    reference: string,
    beforeWrite: () => boolean,
    traceparent: string | undefined,
  ): Promise<AttemptOutcome> {
    if (!beforeWrite()) return { kind: 'not_sent', message: 'the intent was too old to send' };
    const judge = ({ status, headers, text }: HttpReply): AttemptOutcome => {
      const answer = { httpStatus: status, text: redact(text), retryAfterMs: readRetryAfter(headers) };
      return judgeAnswer(answer, reference, options.rules);
    };
    const delivery = await deliver({
      method: 'POST',
      path: `${prefix}/bank_transfer`,
      headers: {
        ...headersWith(options.orderKey, traceparent),
        signature: signBody(body, options.signingKey),
      },
      // A new buffer for each request: the transport recognises the request by it.
      body: Buffer.from(body, 'utf8'),
      mayWrite: beforeWrite,
      onReply: ({ headers }) => {
        pausedUntil = Math.max(pausedUntil, monotonic() + (readRetryAfter(headers) ?? 0));
      },
      answers: ({ text }) => mentions(parseLossless(text), reference),
      control: (reply) => (leavesUntaken(judge(reply)) ? detailsOf(reference)(traceparent) : undefined),
    });
    if (delivery.kind === 'failed') {
      if (!delivery.sent) return { kind: 'not_sent', message: delivery.message };
      return unknown(`no answer: ${delivery.message}`, '');
    }
    const { reply, control } = delivery;
    const outcome = judge(reply);
    // A service that turns every request away gives the question the same answer as the order.
    const saysAgain = (next: HttpReply): boolean =>
      outcome.kind === 'turned_away' && judge(next).kind === 'turned_away';
    if (!control || refusalStands(control, reference, saysAgain)) return outcome;
    return unknown('a refusal that may be the answer to another order', reply.text);
  }

  function question(
    method: 'GET' | 'POST',
    path: string,
    more: Pick<ServiceQuestion, 'answers' | 'query'> = {},
  ): InTrace {
    return (traceparent) => {
      const headers = headersWith(options.secretKey, traceparent);
      return { method, path: `${prefix}/${path}`, headers, ...more };
    };
  }

  /** A question about one reference. A reply that the service did not make is no evidence, whichever request it answers. */
  function questionAbout(path: string, reference: string): InTrace {
    const answers = (reply: HttpReply): boolean => {
      const judged = judgeReply(reply);
      return judged.kind === 'trouble' || mentions(judged.json, reference);
    };
    return question('GET', `${path}/${encodeURIComponent(reference)}`, { answers });
  }

  const detailsOf = (reference: string): InTrace => questionAbout('fetch_transfer_details', reference);

  async function ask(request: InTrace, about?: TraceSubject): Promise<LookUpReply | ServiceTrouble> {
    const delivery = await asked(request, deliver, about);
    return delivery.kind === 'failed' ? unanswered(delivery) : judgeReply(delivery.reply);
  }

  /** Puts a question inside a span of its own. */
  function asked(
    request: InTrace,
    send: (request: ServiceQuestion) => Promise<RequestEnd>,
    about: TraceSubject | undefined,
  ): Promise<RequestEnd> {
    return inSpan(
      options.traces,
      { name: 'service question', ...(about && { about }) },
      {
        work: (traceparent) => send(request(traceparent)),
        said: (end): SpanFields =>
          end.kind === 'reply' ? { http_status: end.reply.status } : { outcome: 'failed' },
      },
    );
  }

  return {
    bankTransfer: (body, reference, beforeWrite, batch) =>
      inSpan(
        options.traces,
        {
          name: 'payout attempt',
          about: { kind: 'payout', name: reference },
          fields: { reference, ...(batch !== undefined && { batch }) },
        },
        { work: (traceparent) => order(body, reference, beforeWrite, traceparent), said: outcomeFields },
      ),
    async listPage(page, status, recall, run) {
      const path = `fetch_all_transfers${status ? `/${status}` : ''}?page=${page}`;
      const delivery = await asked(
        question('GET', path, { answers: ({ text }) => isPage(text, page) }),
        async (request) => noted(await transport.deliver(request)),
        run === undefined ? undefined : { kind: 'run', name: run },
      );
      if (delivery.kind === 'failed') return unanswered({ ...delivery, message: redact(delivery.message) });
      const { reply } = delivery;
      // The digest is of the raw text, before redaction: a known page is then not searched for secrets again.
      const digest = replyDigest(reply.text);
      const known = reply.status === 200 ? recall?.(digest) : undefined;
      const judged = known
        ? { kind: 'page' as const, page: { ...known, date: dateOf(reply) } }
        : judgePage({ ...reply, text: redact(reply.text) }, digest, page);
      if (judged.kind === 'page' || isServices(reply)) hear(reply);
      return judged;
    },
    fetchTransferDetails: (reference) => ask(detailsOf(reference), { kind: 'payout', name: reference }),
    verifyTransaction: (reference) =>
      ask(questionAbout('transaction/verify', reference), { kind: 'collection', name: reference }),
    resendWebhook: (kind, reference) =>
      ask(question('POST', `resend_${kind}_webhook/${encodeURIComponent(reference)}`), {
        kind: kind === 'payout' ? 'payout' : 'collection',
        name: reference,
      }),
    walletBalance: async (path) => readOr(await ask(question('GET', path)), readBalances),
    accountName: async (path, account) => {
      const query = JSON.stringify({ bank_code: account.bankCode, account_number: account.accountNumber });
      return readOr(await ask(question('POST', path, { query })), readAccountName);
    },
    serviceNow: () => heard && heard.date + monotonic() - heard.at,
    orderPauseMs: () => Math.max(0, pausedUntil - monotonic()),
    close: () => transport.close(),
  };
}

function outcomeFields(outcome: AttemptOutcome): SpanFields {
  const status = 'httpStatus' in outcome ? outcome.httpStatus : null;
  return { outcome: outcome.kind, ...(status !== null && { http_status: status }) };
}

function readOr<Answer>(
  answer: LookUpReply | ServiceTrouble,
  read: (json: unknown) => Answer | string,
): Answer | ServiceTrouble {
  if (answer.kind === 'trouble') return answer;
  const value = read(answer.json);
  return typeof value === 'string' ? trouble('not_understood', value, answer.httpStatus) : value;
}

/** Whether a reply carries the service's envelope; a page of a proxy does not. */
function isServices({ text }: HttpReply): boolean {
  return readEnvelope(parseLossless(text)) !== undefined;
}

/** True for the outcomes that allow another POST: there the reply must be the order's own (P6, P8). */
function leavesUntaken({ kind }: AttemptOutcome): boolean {
  return kind === 'refused' || kind === 'turned_away';
}

/**
 * Whether a list reply carries this page number. True for a reply without one: {@link judgePage} says what is wrong
 * with it.
 */
function isPage(text: string, wanted: number): boolean {
  const current = /"current_page"\s*:\s*"?(\d+)/.exec(text)?.[1];
  return current === undefined || Number(current) === wanted;
}

function unknown(message: string, raw: string): AttemptOutcome {
  return { kind: 'unknown', code: null, httpStatus: null, message, raw, halts: false };
}

type Control = NonNullable<Extract<RequestEnd, { kind: 'reply' }>['control']>;

/**
 * Whether a refusal or a 429 that names no reference belongs to the order (P6, P8). On a socket that carried other
 * requests, only the answer to the next question proves it. A stray refusal would be followed by the order's own
 * answer.
 *
 * `saysAgain`: true for a reply that turns the request away again, whether it answers the order or the question. The
 * service took the order, or its real answer arrives only now.
 */
function refusalStands(
  { next, alone }: Control,
  reference: string,
  saysAgain: (reply: HttpReply) => boolean,
): boolean {
  if (next?.kind !== 'reply') return alone;
  const json = parseLossless(next.reply.text);
  // The order was taken, or its real answer comes only now.
  if (mentions(json, reference) && readEnvelope(json)?.success !== false) return false;
  return alone || isNotFound(json, next.reply.status) || saysAgain(next.reply);
}
