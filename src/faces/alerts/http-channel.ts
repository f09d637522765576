import { inSpan, type SpanStart, type Traces } from '../../core/domain/trace.ts';
import { readRetryAfter } from '../../core/service/retry-after.ts';
import { type ChannelResult, errorCode, failedBy, type SendMessage } from './channel.ts';

/** The longest that one request may take, its answer included. */
const timeoutMs = 10_000;
/** So much of an answer is read, and thrown away. */
const mostBytes = 64 * 1024;

/** Posts a message as Slack's incoming webhooks take it, and what is compatible with them. */
export function createWebhook(url: string, traces?: Traces): SendMessage {
  return ({ wording, id, signal }) => {
    // Slack reads & < > as marks, such as a mention of everybody; all else is plain text.
    const text = wording.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const body = JSON.stringify({ text, mrkdwn: false, link_names: false });
    const headers = { 'content-type': 'application/json' };
    return askOnce({ url, method: 'POST', headers, body, signal }, traces, sent(id));
  };
}

/** Asks the address that tells a monitor that a reconciliation was complete. */
export function createHeartbeat(url: string, traces?: Traces): SendMessage {
  return ({ id, signal }) => askOnce({ url, method: 'GET', signal }, traces, sent(id));
}

const sent = (id: string) => ({ name: 'alert', about: { kind: 'alert', name: id } as const });

type Ask = {
  url: string;
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
};

/** One request, in a span. Certificates are verified, and no redirect is followed: it could name an address inside the network. */
export function askOnce(ask: Ask, traces: Traces | undefined, start: SpanStart): Promise<ChannelResult> {
  return inSpan(traces, start, {
    work: (traceparent) =>
      request(traceparent === undefined ? ask : { ...ask, headers: { ...ask.headers, traceparent } }),
    said: ({ kind }) => ({ outcome: kind }),
  });
}

async function request({ url, signal, ...init }: Ask): Promise<ChannelResult> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: limit });
    await readSome(response);
    if (response.ok) return { kind: 'sent' };
    return {
      kind: 'failed',
      problem: `http_${response.status}`,
      retryAfterMs: readRetryAfter(Object.fromEntries(response.headers)) ?? 0,
    };
  } catch (error) {
    return failedBy(errorCode(error, signal));
  }
}

/** Reads the answer up to a limit, so that the connection can be used again, and drops the rest. */
async function readSome({ body }: Response): Promise<void> {
  const reader = body?.getReader();
  if (!reader) return;
  for (let bytes = 0; bytes <= mostBytes; ) {
    const { done, value } = await reader.read();
    if (done) return;
    bytes += value.byteLength;
  }
  await reader.cancel();
}
