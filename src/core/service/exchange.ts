import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { HttpReply, RequestEnd } from './http.ts';

/** `begins` is called in the tick in which the request would be written. If it returns false, nothing is written. */
export type ExchangeWatch = { timeoutMs: number; wasSent: () => boolean; begins: () => boolean };

const maxReplyBytes = 16 * 1024 * 1024;

/** Sends one request and collects its whole reply. A handler of our own avoids the wrappers of undici's `request`. */
export function exchange(
  client: Dispatcher,
  request: Dispatcher.DispatchOptions,
  watch: ExchangeWatch,
): Promise<RequestEnd> {
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
    const end = (delivery: RequestEnd): void => {
      clearTimeout(timer);
      resolve(delivery);
    };
    client.dispatch(request, {
      onRequestStart(begun) {
        controller = begun;
        // Asked in the tick of the write: connecting, or waiting for a socket, can outlast the intent (P3).
        if (late) begun.abort(late);
        else if (!watch.begins())
          begun.abort(new Error('the intent grew too old before its bytes could leave'));
      },
      onResponseStart(_, status, headers) {
        // An interim response such as 103 also arrives here; the final response replaces it.
        reply = { status, headers };
      },
      onResponseData(begun, chunk) {
        size += chunk.length;
        if (size > maxReplyBytes) begun.abort(new Error(`the reply is larger than ${maxReplyBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd() {
        end(reply ? read(reply, chunks, watch) : failed(new Error('no answer'), watch));
      },
      onResponseError(_, error) {
        end(failed(error, watch));
      },
    });
  });
}

function read(reply: Omit<HttpReply, 'text'>, chunks: readonly Buffer[], watch: ExchangeWatch): RequestEnd {
  try {
    const coding = reply.headers['content-encoding'];
    const body = decodeBody(Buffer.concat(chunks), { coding, maxBytes: maxReplyBytes });
    return { kind: 'reply', reply: { ...reply, text: body.toString('utf8') } };
  } catch (error) {
    return failed(error, watch);
  }
}

/** Its name separates a time-out from every other failure. */
class TimedOut extends Error {
  override readonly name = 'TimeoutError';
}

function failed(error: unknown, { wasSent }: ExchangeWatch): RequestEnd {
  const timedOut = error instanceof Error && /Timeout/.test(error.name);
  return { kind: 'failed', message: describe(error), timedOut, sent: wasSent() };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error && typeof error.code === 'string' ? `${error.code} ` : '';
  return `${code}${error.message}`.trim();
}

const decoders = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * Returns a reply's body without its content coding: some servers compress although they are asked not to. An unknown
 * coding is left as it is. Throws for a broken body, and for one of more than `maxBytes`.
 */
function decodeBody(
  body: Buffer,
  { coding, maxBytes }: { coding: string | string[] | undefined; maxBytes: number },
): Buffer {
  const name = typeof coding === 'string' ? coding.trim().toLowerCase() : '';
  const decode = decoders.get(name);
  return decode ? decode(body, { maxOutputLength: maxBytes }) : body;
}
