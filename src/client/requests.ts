import { ApiError, errorOf } from './api-error.ts';
import { isPassing, pause, pauseAfter } from './pauses.ts';

export type RequestOptions = {
  /** The address of the admin server, such as `http://127.0.0.1:8788`. */
  url: string;
  token: string;
  /** Left out: the `fetch` of Node or the browser. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a request is repeated whose answer was lost, or that was turned away for now. */
  retries?: number;
  /** How long one try may take. Files may take longer. */
  timeoutMs?: number;
};

type Sent = {
  method?: string;
  headers?: Record<string, string>;
  body?: RequestInit['body'];
  signal?: AbortSignal | undefined;
  mayTimeOut?: boolean;
};

export type Requests = ReturnType<typeof createRequests>;

/** Requests with the token, and how they are repeated. */
export function createRequests(options: RequestOptions) {
  const { url, token, fetch: ask = fetch, retries: usual = 6, timeoutMs = 60_000 } = options;
  const base = `${url.replace(/\/+$/, '')}/api/v1`;

  /** Asks once. Throws {@link ApiError} for an answer that is no success. */
  async function send(
    target: string,
    { method = 'GET', headers = {}, body, signal, mayTimeOut }: Sent,
  ): Promise<Response> {
    const signals = [signal ?? [], mayTimeOut ? AbortSignal.timeout(timeoutMs) : []].flat();
    const response = await ask(base + target, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body !== undefined && { body }),
      // Without it, no stream is sent.
      ...(body instanceof ReadableStream && { duplex: 'half' as const }),
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
      redirect: 'error',
    });
    if (!response.ok) throw await errorOf(response, headers['idempotency-key'] ?? null);
    return response;
  }
  return {
    send,
    /** Asks once, for JSON. */
    async json<T>(target: string, sent: Sent): Promise<T> {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server's tests hold its answers against their schemas
      return (await (await send(target, sent)).json()) as T;
    },
    /** Repeats the work while it fails for a passing reason. Throws {@link ApiError}, or the reason of the signal. */
    async repeat<T>(
      { signal, retries = usual, idempotencyKey = null }: Repeating,
      work: (failures: number) => Promise<T>,
    ): Promise<T> {
      for (let failures = 0; ; ) {
        try {
          return await work(failures);
        } catch (error) {
          signal?.throwIfAborted();
          failures++;
          if (!isPassing(error)) throw error;
          if (failures > retries) throw error instanceof ApiError ? error : lost(error, idempotencyKey);
          await pause(pauseAfter(failures, error), signal);
        }
      }
    },
  };
}

type Repeating = {
  signal?: AbortSignal | undefined;
  retries?: number | undefined;
  idempotencyKey?: string | null;
};

function lost(cause: unknown, idempotencyKey: string | null): ApiError {
  const problem = 'no answer came, so that nobody here knows what was done';
  const fix = 'repeat it, a decision with the same idempotencyKey: nothing is done twice';
  return new ApiError(0, { details: { problem, fix }, idempotencyKey, cause });
}
