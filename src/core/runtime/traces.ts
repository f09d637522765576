import type { AttributeValue, Tracer } from '@opentelemetry/api';
import {
  newTrace,
  type OpenSpan,
  type SpanStart,
  subjectOf,
  type Traces,
  traceOf,
  unsampled,
} from '../domain/trace.ts';
import type { Clock } from './clock.ts';
import { errorText } from './log-events.ts';
import type { Logger } from './logger.ts';

/** A call of the operator's code that takes longer keeps payments waiting. */
const slowMs = 100;
/** So long no span is made after a call that was slow or threw. */
const restMs = 60_000;

/**
 * Begins spans with the OpenTelemetry SDK that the operator registered before the start; without one they only have ids of
 * our own. The SDK is code of somebody else on the way of money: what it throws is dropped, and after trouble it rests.
 */
export async function openTraces(deps: {
  ledgerId: string;
  version: string;
  clock: Pick<Clock, 'monotonic'>;
  log: Pick<Logger, 'warn'>;
}): Promise<Traces> {
  const { ledgerId, clock, log } = deps;
  let restUntil = Number.NEGATIVE_INFINITY;
  const guarded = <T>(call: () => T): T | undefined => {
    const began = clock.monotonic();
    if (began < restUntil) return undefined;
    const rest = (why: string): void => {
      restUntil = clock.monotonic() + restMs;
      log.warn({ why }, 'OpenTelemetry gave trouble: no spans are made for a minute');
    };
    try {
      const answer = call();
      const tookMs = Math.round(clock.monotonic() - began);
      if (tookMs > slowMs) rest(`a call of the SDK took ${tookMs} ms`);
      return answer;
    } catch (error) {
      rest(errorText(error));
      return undefined;
    }
  };
  const api = await registeredApi();
  const tracer = api && guarded(() => tracerOf(api, deps.version));
  if (api && !tracer)
    log.warn('an OpenTelemetry SDK is registered, but makes no spans: its API must be 1.10.0 or newer');
  const plain = (traceId: string): OpenSpan => ({
    traceparent: unsampled({ traceId }),
    end: () => undefined,
  });

  function begin({ name, about, parent, startedAt, fields }: SpanStart): OpenSpan {
    const from = about ? traceOf(ledgerId, about) : (parent ?? newTrace());
    const { traceId } = from;
    if (!api || !tracer) return plain(traceId);
    const remote = (one: typeof from) => ({ ...one, traceFlags: api.TraceFlags.SAMPLED, isRemote: true });
    const links = about && parent ? [{ context: remote(parent) }] : [];
    const options = {
      links,
      attributes: { ...fields },
      ...(startedAt !== undefined && { startTime: startedAt }),
    };
    const made = guarded(() => {
      const span = tracer.startSpan(name, options, api.trace.setSpanContext(api.ROOT_CONTEXT, remote(from)));
      return { span, context: span.spanContext() };
    });
    if (!made || !api.isSpanContextValid(made.context) || made.context.traceId !== traceId)
      return plain(traceId);
    const { span, context } = made;
    const flags = (context.traceFlags & api.TraceFlags.SAMPLED) === 0 ? '00' : '01';
    const end = (more: Record<string, AttributeValue> = {}): void => {
      guarded(() => span.setAttributes(more).end());
    };
    return { traceparent: `00-${traceId}-${context.spanId}-${flags}`, end };
  }
  return { isOn: tracer !== undefined, begin };
}

type Api = typeof import('@opentelemetry/api');

/** The API, loaded only where somebody has registered a provider of traces with any copy of it. */
async function registeredApi(): Promise<Api | undefined> {
  const registered: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  const isOn = typeof registered === 'object' && registered !== null && 'trace' in registered;
  return isOn ? import('@opentelemetry/api') : undefined;
}

/** The tracer of a registered SDK; undefined where what is registered makes no spans. */
function tracerOf({ trace, ProxyTracerProvider }: Api, version: string): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const name = 'counterfoil';
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(name, version)
    : provider.getTracer(name, version);
}

/** Returns the log with the `trace_id` of this ledger in each line about a payout, a run or a batch. */
export function traceLines(log: Logger, ledgerId: string): Logger {
  const traced = (entry: object): object => {
    const about = subjectOf(entry);
    return about ? { ...entry, trace_id: traceOf(ledgerId, about).traceId } : entry;
  };
  return log.child({}, { formatters: { log: traced } });
}
