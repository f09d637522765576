import type { Wording } from './message-words.ts';

/**
 * How an attempt to send ended. `problem` is a code such as `http_404`, `timeout` or `ECONNREFUSED`: the other side's
 * texts are never kept. `retryAfterMs`: how long it asked us to wait.
 */
export type ChannelResult = { kind: 'sent' } | { kind: 'failed'; problem: string; retryAfterMs: number };

/** Sends a message through one channel. Never throws; an aborted signal is the failure `stopped`. */
export type SendMessage = (message: {
  wording: Wording;
  id: string;
  signal: AbortSignal;
}) => Promise<ChannelResult>;

/** A failure that names no time to wait. */
export function failedBy(problem: string): ChannelResult {
  return { kind: 'failed', problem, retryAfterMs: 0 };
}

/** The code of an error, without its text, which may hold an address or a password. */
export function errorCode(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'stopped';
  if (!(error instanceof Error)) return 'unknown_error';
  if (error.name === 'TimeoutError') return 'timeout';
  const cause = error.cause instanceof Error ? error.cause : error;
  const code = 'code' in cause ? String(cause.code) : 'unknown_error';
  return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'unknown_error';
}
