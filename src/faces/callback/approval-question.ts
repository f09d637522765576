import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { errorCode } from '../alerts/channel.ts';
import { signatureOf, signedHeaders } from '../alerts/signed-post.ts';

/** The longest that a question may take, its answer included. */
const timeoutMs = 10_000;
const mostBytes = 16 * 1024;
/** So far the time in an answer may be from ours. */
const windowMs = 5 * 60_000;
const longestReason = 1000;

/**
 * What the operator's own server is asked about a batch, without bank details. Nothing in it is called `answer`: sent
 * back as it came, it is none.
 */
export type ApprovalQuestion = {
  batch: string;
  digest: string;
  file: string;
  rows: number;
  totals: Record<string, string>;
  dropped_by: string | null;
  hold_reasons: string[];
  asked_at: string;
};

/** What counts as an answer. `none`: the batch waits; `problem` is a code, never a text of the other side. */
export type ServerAnswer =
  | { kind: 'yes' }
  | { kind: 'no'; reason: string }
  | { kind: 'none'; problem: string };

const answerShape = z.object({
  answer: z.enum(['yes', 'no', 'later']),
  digest: z.string().optional(),
  reason: z.string().default(''),
});

/** Asks once. `id`: a new one for each question, which its answer must repeat. Never throws. */
export async function askServer(
  question: ApprovalQuestion,
  to: {
    url: string;
    secret: string;
    id: string;
    now(): number;
    signal: AbortSignal;
    traceparent?: string | undefined;
  },
): Promise<ServerAnswer> {
  const { url, secret, id, now, signal, traceparent } = to;
  const body = JSON.stringify(question);
  const headers = {
    ...signedHeaders(secret, { id, at: new Date(now()), body }),
    ...(traceparent !== undefined && { traceparent }),
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const sent = { method: 'POST', headers, body, redirect: 'manual' as const, signal: limit };
    const response = await fetch(url, sent);
    const text = await readText(response);
    if (response.status !== 200) return none(`http_${response.status}`);
    if (text === null) return none('unreadable');
    const problem = whyNotSigned(response.headers, { secret, id, text, nowMs: now() });
    return problem === null ? read(text, question.digest) : none(problem);
  } catch (error) {
    return none(errorCode(error, signal));
  }
}

function none(problem: string): ServerAnswer {
  return { kind: 'none', problem };
}

/** The body as UTF-8; null where it is longer than an answer, or no text. */
async function readText({ body }: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) return null;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    return null;
  }
}

/** Why the answer is not proven to be one to this very question, given now; null where it is. */
function whyNotSigned(
  headers: Headers,
  { secret, id, text, nowMs }: { secret: string; id: string; text: string; nowMs: number },
): string | null {
  const signatures = headers.get('webhook-signature') ?? '';
  const stamp = headers.get('webhook-timestamp') ?? '';
  if (signatures === '' || !/^\d{1,12}$/.test(stamp)) return 'unsigned';
  if (headers.get('webhook-id') !== id) return 'other_id';
  const at = new Date(Number(stamp) * 1000);
  if (Math.abs(nowMs - at.getTime()) > windowMs) return 'untimely';
  const expected = Buffer.from(signatureOf(secret, { id, at, body: text }));
  const isRight = signatures.split(' ').some((one) => {
    const given = Buffer.from(one);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isRight ? null : 'unsigned';
}

/** What a signed answer says. A yes names the digest; a no may. */
function read(text: string, digest: string): ServerAnswer {
  const said = z.preprocess(parsed, answerShape).safeParse(text).data;
  if (!said) return none('unreadable');
  const { answer, digest: named = answer === 'yes' ? '' : digest, reason } = said;
  if (answer === 'later') return none('later');
  if (named !== digest) return none('other_digest');
  return answer === 'yes' ? { kind: 'yes' } : { kind: 'no', reason: reason.trim().slice(0, longestReason) };
}

function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
