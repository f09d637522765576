import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { foldReference, isReference } from '../../core/domain/ids.ts';
import { keptReference } from '../../core/domain/others-reference.ts';
import type { Redact } from '../../core/domain/redact.ts';
import type { RequestSource } from './receiver-address.ts';
import { differsHeader, signedWithHeader, type WebhookDelivery } from './webhook-inbox.sql.ts';

/** Headers that carry credentials; Authorization's verdict is stored instead. */
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Converts an authentic delivery to the ledger's form. No body can make it fail: an unreadable one is `unknown`. */
export function describeDelivery(input: {
  body: Uint8Array;
  headers: IncomingHttpHeaders;
  authorization: string;
  /** The fingerprint of the key that signed it. */
  signedWith: string;
  source: RequestSource;
  receivedAt: string;
  nowMs: number;
  replayWindowMs: number;
  /** Removes our secrets from what is stored. */
  redact?: Redact;
}): WebhookDelivery {
  const { redact = (text: string) => text } = input;
  const { body, headers } = input;
  const event = readEvent(body);
  const kept: Record<string, unknown> = {};
  for (const name in headers) if (!secretHeaders.has(name)) kept[name] = headers[name];
  kept.authorization = input.authorization;
  kept[signedWithHeader] = input.signedWith;
  kept['source-address'] = input.source.address;
  kept['source-protocol'] = input.source.protocol;
  kept[differsHeader] = namesAnother(headerText(headers['x-webhook-reference']), event) ? 'yes' : undefined;
  return {
    body: withoutSecrets(body, redact),
    digest: hash('sha256', body, 'hex'),
    receivedAt: input.receivedAt,
    ...event,
    headers: redact(JSON.stringify(kept)),
    stale: isStale(headerText(headers.timestamp), input.nowMs, input.replayWindowMs),
  };
}

/** Returns the same bytes, unless they contain a secret. */
function withoutSecrets(body: Uint8Array, redact: Redact): Uint8Array {
  // In latin1 every byte is one character, so that bytes that are not UTF-8 survive.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const safe = redact(text);
  return safe === text ? body : Buffer.from(safe, 'latin1');
}

/**
 * The header is outside the signature, so it can only raise a question. It is common for one of the two to hold the
 * service's own name and the other our reference.
 */
function namesAnother(
  header: string | undefined,
  { reference, trx }: { reference: string | null; trx: string | null },
) {
  if (header === undefined || header.trim() === '') return false;
  return ![reference, trx].some((own) => own?.toLowerCase() === header.trim().toLowerCase());
}

/** Joins a header's values; Node joins repeats of unknown headers itself. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/**
 * The reference that a body names, folded; empty where it names none of that form. Of a refused delivery nothing is
 * proven: the reference only tells a delivery about our payouts from one of a stranger.
 */
export function namedReference(body: Uint8Array): string {
  const { reference } = readEvent(body);
  return reference !== null && isReference(reference) ? foldReference(reference) : '';
}

/** Reads the event leniently: its fields are at the top level or under `data`. */
function readEvent(body: Uint8Array): Pick<WebhookDelivery, 'kind' | 'reference' | 'trx'> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const source = text.replace(/^\ufeff/, '');
  const plain = readFields(parseJson(source));
  // Reading every number as text takes long, and few ids are numbers.
  const { kind, reference, trx } = hasNumbers(plain) ? readFields(parseJson(source, keepDigits)) : plain;
  return {
    kind: kinds.get(String(kind).toLowerCase()) ?? 'unknown',
    reference: idOf(reference),
    trx: idOf(trx),
  };
}

/** Event names that services use, in any case. */
const kinds = new Map<string, WebhookDelivery['kind']>([
  ['payout', 'payout'],
  ['transaction', 'transaction'],
  ['collection', 'transaction'],
]);

type EventFields = { kind: unknown; reference: unknown; trx: unknown };

function readFields(json: unknown): EventFields {
  const root = fieldsOf(json);
  const data = fieldsOf(root.data);
  const either = (key: string): unknown => (isSaid(root[key]) ? root[key] : data[key]);
  return { kind: either('event'), reference: either('reference'), trx: either('trx') };
}

function hasNumbers({ reference, trx }: EventFields): boolean {
  return typeof reference === 'number' || typeof trx === 'number';
}

function isSaid(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '');
}

function parseJson(source: string, reviver?: Parameters<typeof JSON.parse>[1]): unknown {
  try {
    return JSON.parse(source, reviver);
  } catch {
    return null;
  }
}

/** Reads numbers as text: ids beyond 2^53 would be rounded (P13). */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The id in the ledger's form: any reference is kept, so that its money is reported. */
function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? keptReference(value) : null;
}

/**
 * True when the `timestamp` header is outside the window on either side, or unreadable. A missing header is not stale:
 * it is outside the signature, so its absence proves no more than its presence.
 */
function isStale(header: string | undefined, nowMs: number, windowMs: number): boolean {
  if (header === undefined || header.trim() === '') return false;
  const at = instantOf(header.trim());
  return at === undefined || Math.abs(nowMs - at) > windowMs;
}

/** Seconds, milli-, micro- or nanoseconds since the epoch, or ISO 8601; without a zone it is Lagos time. */
function instantOf(header: string): number | undefined {
  if (/^\d{1,19}(\.\d+)?$/.test(header)) {
    const value = Number(header);
    if (value < 1e11) return value * 1000;
    return value < 1e14 ? value : value < 1e17 ? value / 1e3 : value / 1e6;
  }
  const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?$/i.exec(header);
  const at = Date.parse(iso ? `${iso[1]}T${iso[2]}${iso[3]?.toUpperCase() ?? '+01:00'}` : header);
  return Number.isNaN(at) ? undefined : at;
}
