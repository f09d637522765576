import { isNotFound } from '../domain/witness.ts';
import type { Delivery } from './http.ts';
import { mentions, parseLossless, readEnvelope } from './json.ts';

type Control = NonNullable<Extract<Delivery, { kind: 'reply' }>['control']>;

/**
 * Whether a refusal that names no reference is the order's own (P6). On a socket that carried other requests only the
 * answer to the next question tells: had the refusal been a stray one, the order's answer would come first.
 */
export function refusalStands({ next, alone }: Control, reference: string): boolean {
  if (next?.kind !== 'reply') return alone;
  const json = parseLossless(next.reply.text);
  // The order was taken, or its real answer comes only now.
  if (mentions(json, reference) && readEnvelope(json)?.success !== false) return false;
  return alone || isNotFound(json, next.reply.status);
}
