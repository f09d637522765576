import { longestPauseMs } from '../domain/pause.ts';

/**
 * Returns Retry-After (seconds or an HTTP date) in milliseconds; null when absent or unreadable. A date counts from the
 * reply's own Date header, so that a wrong clock here does not matter.
 */
export function readRetryAfter(headers: Record<string, string | string[] | undefined>): number | null {
  const value = headers['retry-after'];
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined) return null;
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, longestPauseMs);
  const wait = Date.parse(text) - Date.parse(String(headers.date));
  return Number.isNaN(wait) ? null : Math.min(Math.max(0, wait), longestPauseMs);
}
