import { ApiError } from './api-error.ts';

const firstPauseMs = 250;
const longestPauseMs = 10_000;
/** A server may ask for so much patience at most. */
const mostPatienceMs = 60_000;

/** Waits; ends at once when the signal aborts, by throwing its reason. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** How long to wait after so many failures in a row: longer each time, and never all at once. */
export function pauseAfter(failures: number, error: unknown): number {
  const grown = Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(grown, Math.min(asked, mostPatienceMs));
}

/** Whether the request may have been done, or is still being worked on, or was turned away for now. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return [429, 502, 503, 504].includes(error.status) || error.kind === 'busy';
}
