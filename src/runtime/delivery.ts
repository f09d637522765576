import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Mode } from '../domain/payout.ts';
import type { Delivery } from '../ledger/webhook-inbox.ts';

/** Headers that carry credentials; Authorization's verdict is stored in its place. */
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Makes the ledger's form of an authentic delivery. Nothing in the body can make it fail: what is odd is `unknown`. */
export function describeDelivery(input: {
  mode: Mode;
  body: Uint8Array;
  headers: IncomingHttpHeaders;
  authorization: string;
  address: string;
  receivedAt: string;
  nowMs: number;
  replayWindowMs: number;
}): Delivery {
  const { mode, body, headers } = input;
  const kept = Object.entries(headers).filter(([name]) => !secretHeaders.has(name));
  return {
    mode,
    body,
    digest: createHash('sha256').update(`${mode}\n`).update(body).digest('hex'),
    receivedAt: input.receivedAt,
    ...readEvent(body),
    headers: JSON.stringify({
      ...Object.fromEntries(kept),
      authorization: input.authorization,
      'source-address': input.address,
    }),
    stale: isStale(headerText(headers.timestamp), input.nowMs, input.replayWindowMs),
  };
}

/** One text per header; Node joins repeats of unknown headers by itself. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** What the event is about, leniently: fields at the top level or under `data`; numbers keep their digits. */
function readEvent(body: Uint8Array): Pick<Delivery, 'kind' | 'reference' | 'trx'> {
  const root = fieldsOf(parseJson(body));
  const data = fieldsOf(root.data);
  const event = text(root.event) ?? text(data.event);
  const kind =
    event === 'payout'
      ? 'payout'
      : event === 'transaction' || event === 'collection'
        ? 'transaction'
        : 'unknown';
  return {
    kind,
    reference: text(root.reference) ?? text(data.reference),
    trx: text(root.trx) ?? text(data.trx),
  };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'), keepDigits);
  } catch {
    return null;
  }
}

/** Ids beyond 2^53 would be rounded, so numbers are read as their text (P13). */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/**
 * True when the `timestamp` header lies outside the window on either side, or cannot be read. The header is outside the signature, so its absence
 * proves no more than its presence: without one there is nothing to judge by.
 */
function isStale(header: string | undefined, nowMs: number, windowMs: number): boolean {
  if (header === undefined || header.trim() === '') return false;
  const at = instantOf(header.trim());
  return at === undefined || Math.abs(nowMs - at) > windowMs;
}

/** Seconds, milliseconds or microseconds since the epoch, or ISO 8601; without a zone it is Lagos time (field-notes.md). */
function instantOf(header: string): number | undefined {
  if (/^\d{1,17}(\.\d+)?$/.test(header)) {
    const value = Number(header);
    return value < 1e11 ? value * 1000 : value < 1e14 ? value : value / 1000;
  }
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(header);
  const at = Date.parse(iso ? `${iso[1]}T${iso[2]}${iso[3] ?? '+01:00'}` : header);
  return Number.isNaN(at) ? undefined : at;
}
