import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { keptReference } from '../domain/others-reference.ts';
import type { Redact } from '../domain/redact.ts';
import type { Source } from './receiver-address.ts';
import { type Delivery, differsHeader } from './webhook-inbox.sql.ts';

/** Headers that carry credentials; Authorization's verdict is stored in its place. */
const secretHeaders = new Set(['authorization', 'proxy-authorization', 'cookie']);

/** Makes the ledger's form of an authentic delivery. Nothing in the body can make it fail: what is odd is `unknown`. */
export function describeDelivery(input: {
  body: Uint8Array;
  headers: IncomingHttpHeaders;
  authorization: string;
  source: Source;
  receivedAt: string;
  nowMs: number;
  replayWindowMs: number;
  /** Takes our secrets out of what is kept. */
  redact?: Redact;
}): Delivery {
  const { redact = (text: string) => text } = input;
  const { body, headers } = input;
  const event = readEvent(body);
  const kept: Record<string, unknown> = {};
  for (const name in headers) if (!secretHeaders.has(name)) kept[name] = headers[name];
  kept.authorization = input.authorization;
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

/** The same bytes, unless a secret stands among them. */
function withoutSecrets(body: Uint8Array, redact: Redact): Uint8Array {
  // Every byte is a character of its own, so that what is no UTF-8 survives.
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  const safe = redact(text);
  return safe === text ? body : Buffer.from(safe, 'latin1');
}

/**
 * The header lies outside the signature, so that it can only raise a question; the service's own name for a transfer
 * in one place and ours in the other is no rarity.
 */
function namesAnother(
  header: string | undefined,
  { reference, trx }: { reference: string | null; trx: string | null },
) {
  if (header === undefined || header.trim() === '') return false;
  return ![reference, trx].some((own) => own?.toLowerCase() === header.trim().toLowerCase());
}

/** One text per header; Node joins repeats of unknown headers by itself. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

/** What the event is about, leniently: fields at the top level or under `data`. */
function readEvent(body: Uint8Array): Pick<Delivery, 'kind' | 'reference' | 'trx'> {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const source = text.replace(/^\ufeff/, '');
  const plain = readFields(parseJson(source));
  // Reading every number as its text takes long, and few events name themselves by one.
  const { kind, reference, trx } = hasNumbers(plain) ? readFields(parseJson(source, keepDigits)) : plain;
  return {
    kind: kinds.get(String(kind).toLowerCase()) ?? 'unknown',
    reference: idOf(reference),
    trx: idOf(trx),
  };
}

/** Event names as services write them, in whatever case. */
const kinds = new Map<string, Delivery['kind']>([
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

/** Ids beyond 2^53 would be rounded, so numbers are read as their text (P13). */
function keepDigits(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** As the ledger holds it: money that came under any name is reported. */
function idOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? keptReference(value) : null;
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

/** Seconds, milli-, micro- or nanoseconds since the epoch, or ISO 8601; without a zone it is Lagos time (field-notes.md). */
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
