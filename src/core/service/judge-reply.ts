import type { HttpReply, RequestEnd } from './http.ts';
import { parseLossless, readEnvelope } from './json.ts';
import { readListPage } from './pages.ts';
import { readRetryAfter } from './retry-after.ts';
import type { ListPage, LookUpReply, ServiceTrouble } from './types.ts';

/** Reads a list page directly. The slower lossless parser runs only to explain what is wrong. */
export function judgePage(
  reply: HttpReply,
  digest: string,
  wanted: number,
): { kind: 'page'; page: ListPage } | ServiceTrouble {
  const { status, text } = reply;
  const read = readListPage(text, dateOf(reply));
  if (status === 200 && read.kind === 'page') {
    const { page } = read.page;
    if (page === wanted) return { kind: 'page', page: { ...read.page, digest } };
    return trouble('not_understood', `it calls itself page ${page}`, status);
  }
  const judged = judgeReply(reply);
  if (judged.kind === 'trouble') return judged;
  return read.kind === 'page' ? read : trouble('not_understood', read.why, status);
}

/** When the service says that it replied, in ms since the epoch; null where it does not. */
export function dateOf({ headers }: HttpReply): number | null {
  const stamp = Date.parse(String(headers.date ?? ''));
  return Number.isNaN(stamp) ? null : stamp;
}

/** The trouble of a question without a whole reply. */
export function unanswered({ timedOut, message }: Extract<RequestEnd, { kind: 'failed' }>): ServiceTrouble {
  return trouble(timedOut ? 'timeout' : 'unreachable', message, null);
}

/** Whether a reply can be used, and otherwise why not. */
export function judgeReply(reply: HttpReply): LookUpReply | ServiceTrouble {
  const { status: httpStatus, headers, text: raw } = reply;
  const date = dateOf(reply);
  const retryAfterMs = readRetryAfter(headers);
  const json = parseLossless(raw);
  const envelope = readEnvelope(json);
  const summary = envelope ? `${envelope.status} ${envelope.message}`.trim() : `HTTP ${httpStatus}`;
  if (httpStatus === 429) return { ...trouble('throttled', summary, httpStatus), retryAfterMs };
  if (httpStatus === 401 || httpStatus === 403) return trouble('unauthorised', summary, httpStatus);
  if (httpStatus >= 500) return { ...trouble('server_error', summary, httpStatus), retryAfterMs };
  if (httpStatus >= 300 && httpStatus < 400)
    return trouble('not_understood', `a redirect (HTTP ${httpStatus})`, httpStatus);
  if (json === undefined && isFromHttpsPort(raw)) return trouble('not_understood', httpsPort, httpStatus);
  if (json === undefined) return trouble('not_understood', `HTTP ${httpStatus}, not JSON`, httpStatus);
  return { kind: 'reply', httpStatus, json, raw, date };
}

/** Why there is no usable answer; without a time to wait. */
export function trouble(
  reason: ServiceTrouble['reason'],
  message: string,
  httpStatus: number | null,
): ServiceTrouble {
  return { kind: 'trouble', reason, message, httpStatus, retryAfterMs: null };
}

/** What an address with each scheme meets on a port that speaks the other one, and how people read it. */
const signs = {
  'https:': {
    sign: /wrong.version.number|packet.length.too.long/i,
    words: 'that port speaks plain HTTP, and service.base_url says https://',
  },
  'http:': {
    sign: /other side closed|ECONNRESET|HPE_INVALID/,
    words:
      'the server closed the connection without an answer: it may speak HTTPS, and service.base_url says http://',
  },
} as const;

/** Replies in plain HTTP of servers that expect HTTPS: nginx, Go, Apache. */
const wantsTls =
  /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|plain HTTP to an SSL-enabled/i;

/** What such a reply means. */
const httpsPort = 'that port speaks HTTPS, and service.base_url says http://';

/** Returns the plain words for a failure that the other scheme causes; any other message unchanged. */
export function schemeTrouble(message: string, { protocol }: Pick<URL, 'protocol'>): string {
  const known = protocol === 'https:' || protocol === 'http:' ? signs[protocol] : undefined;
  return known?.sign.test(message) ? known.words : message;
}

/** True for the reply of an HTTPS port to a request in plain HTTP. */
function isFromHttpsPort(text: string): boolean {
  return wantsTls.test(text);
}
