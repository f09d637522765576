import { foldReference } from '../domain/ids.ts';
import type { AttemptOutcome } from '../domain/outcome.ts';
import { classOf, textOf } from './codes.ts';
import { asText, type Envelope, parseLossless, readEnvelope } from './json.ts';

export type PostReply = { httpStatus: number; text: string; retryAfterMs: number | null };
export type AnswerRules = {
  codes: Readonly<Record<string, 'unknown' | 'halt'>>;
  edgeRejections: readonly number[];
};

/** Judges what a complete HTTP reply to a bank transfer proves (P5, P6, P8). Every reply has exactly one outcome. */
export function judgeAnswer(reply: PostReply, reference: string, rules: AnswerRules): AttemptOutcome {
  const envelope = readEnvelope(parseLossless(reply.text));
  if (!envelope) {
    return rules.edgeRejections.includes(reply.httpStatus)
      ? turnedAway(reply, null, `turned away before the service (HTTP ${reply.httpStatus})`)
      : unknown(reply, null, `HTTP ${reply.httpStatus} without the service's envelope`);
  }
  const message = envelope.message || textOf(envelope.status);
  const echo = asText(envelope.data?.reference);
  // P22: references are compared without regard to case.
  if (echo !== null && foldReference(echo) !== foldReference(reference))
    return unknown(reply, envelope.status, `the answer names another reference: ${message}`);
  if (envelope.success !== (envelope.status === '00')) {
    return unknown(
      reply,
      envelope.status,
      `the answer contradicts itself: success ${envelope.success}, status ${envelope.status}`,
    );
  }
  if (reply.httpStatus === 429 && !envelope.success) return turnedAway(reply, envelope.status, message);
  return envelope.success
    ? judgeSuccess(reply, envelope, echo, message)
    : judgeFailure(reply, envelope, message, rules);
}

function judgeSuccess(
  reply: PostReply,
  envelope: Envelope,
  echo: string | null,
  message: string,
): AttemptOutcome {
  const transferId = asText(envelope.data?.transfer_id);
  if (reply.httpStatus < 200 || reply.httpStatus > 299)
    return unknown(reply, '00', `success with HTTP ${reply.httpStatus}`);
  if (echo === null || !transferId)
    return unknown(reply, '00', 'success without our reference and a transfer id');
  const echoed = asText(envelope.data?.status);
  const status = echoed === 'success' || echoed === 'failed' ? echoed : 'pending';
  return { kind: 'accepted', transferId, status, httpStatus: reply.httpStatus, message, raw: reply.text };
}

function judgeFailure(
  reply: PostReply,
  envelope: Envelope,
  message: string,
  rules: AnswerRules,
): AttemptOutcome {
  const code = envelope.status;
  const type = classOf(code, rules.codes);
  if (type === 'refused' && reply.httpStatus < 500) {
    return { kind: 'refused', code, httpStatus: reply.httpStatus, message, raw: reply.text };
  }
  return { ...unknown(reply, code, message), halts: type === 'halt' };
}

function turnedAway(reply: PostReply, code: string | null, message: string): AttemptOutcome {
  const { httpStatus, retryAfterMs, text } = reply;
  return { kind: 'turned_away', retryAfterMs, httpStatus, code, message, raw: text };
}

function unknown(
  reply: PostReply,
  code: string | null,
  message: string,
): Extract<AttemptOutcome, { kind: 'unknown' }> {
  return { kind: 'unknown', code, httpStatus: reply.httpStatus, message, raw: reply.text, halts: false };
}
