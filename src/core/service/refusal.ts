import { isNotFound } from '../domain/witness.ts';
import type { HttpReply, RequestEnd } from './http.ts';
import { mentions, parseLossless, readEnvelope } from './json.ts';

type Control = NonNullable<Extract<RequestEnd, { kind: 'reply' }>['control']>;

/**
 * Whether a refusal or a 429 that names no reference belongs to the order (P6, P8). On a socket that carried other
 * requests, only the answer to the next question proves it. A stray refusal would be followed by the order's own
 * answer.
 *
 * `saysAgain`: true for a reply that turns the request away again, whether it answers the order or the question. The
 * service took the order, or its real answer arrives only now.
 */
export function refusalStands(
  { next, alone }: Control,
  reference: string,
  saysAgain: (reply: HttpReply) => boolean,
): boolean {
  if (next?.kind !== 'reply') return alone;
  const json = parseLossless(next.reply.text);
  // The order was taken, or its real answer comes only now.
  if (mentions(json, reference) && readEnvelope(json)?.success !== false) return false;
  return alone || isNotFound(json, next.reply.status) || saysAgain(next.reply);
}
