import { hash, randomBytes } from 'node:crypto';
import { foldReference } from './ids.ts';

/** What a trace is about. */
export type TraceSubject = {
  kind: 'payout' | 'collection' | 'batch' | 'run' | 'job' | 'alert';
  name: string;
};

/** What fields such as those of a log line or an event are about; undefined where they name nothing. */
export function subjectOf(fields: object): TraceSubject | undefined {
  const { reference, run, batch }: Record<string, unknown> = { ...fields };
  if (typeof reference === 'string') return { kind: 'payout', name: reference };
  if (typeof run === 'string') return { kind: 'run', name: run };
  return typeof batch === 'string' ? { kind: 'batch', name: batch } : undefined;
}

/** Where a trace goes on from: the ids of W3C Trace Context, in hex. */
export type TraceParent = { traceId: string; spanId: string };

/**
 * Returns the trace of a subject in a ledger. It is derived, so that every process finds the same one for as long as the
 * ledger lives, and nothing is stored. The span is the root, which nobody records.
 */
export function traceOf(ledgerId: string, { kind, name }: TraceSubject): TraceParent {
  const own = kind === 'payout' || kind === 'collection' ? foldReference(name) : name;
  const hex = hash('sha256', JSON.stringify([ledgerId, kind, own]), 'hex');
  return { traceId: hex.slice(0, 32), spanId: hex.slice(32, 48) };
}

/** Returns a new trace, about no subject. */
export function newTrace(): TraceParent {
  const hex = randomBytes(24).toString('hex');
  return { traceId: hex.slice(0, 32), spanId: hex.slice(32) };
}

/** Returns the header of a request in this trace, from a span that nobody records. */
export function unsampled({ traceId }: Pick<TraceParent, 'traceId'>): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-00`;
}

/** Reads a `traceparent` of version 00 (W3C Trace Context, 3.2). Undefined for anything else: it may come from anybody. */
export function readTraceparent(header: string | string[] | undefined): TraceParent | undefined {
  const found =
    typeof header === 'string' ? /^00-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/.exec(header) : null;
  const [, traceId = '', spanId = ''] = found ?? [];
  return /[^0]/.test(traceId) && /[^0]/.test(spanId) ? { traceId, spanId } : undefined;
}

/** What a span says beside its name. Never a name, an account or a key. */
export type SpanFields = Readonly<Record<string, string | number>>;

export type SpanStart = {
  name: string;
  /** Absent: `parent` or a new trace. */
  about?: TraceSubject | undefined;
  /** Where it goes on from; beside `about`, a link. */
  parent?: TraceParent | undefined;
  /** When it began, in ms since the epoch; now where absent. */
  startedAt?: number;
  fields?: SpanFields;
};

/** A span under way, and the `traceparent` of the requests in it. */
export type OpenSpan = { traceparent: string; end(fields?: SpanFields): void };

/** Begins spans. None of it throws. `isOn`: somebody may record them; otherwise a span is no more than a header. */
export type Traces = { isOn: boolean; begin(start: SpanStart): OpenSpan };

/** Does work inside a span; without traces only the work. */
export async function inSpan<T>(
  traces: Traces | undefined,
  start: SpanStart,
  { work, said }: { work(traceparent: string | undefined): Promise<T>; said(end: T): SpanFields },
): Promise<T> {
  const span = traces?.begin(start);
  try {
    const end = await work(span?.traceparent);
    span?.end(said(end));
    return end;
  } catch (error) {
    span?.end({ outcome: 'threw' });
    throw error;
  }
}
