import { type Context, type Span, type SpanOptions, TraceFlags, trace } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { traceOf } from '../../../src/core/domain/trace.ts';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import { openTraces, traceLines } from '../../../src/core/runtime/traces.ts';

afterEach(() => trace.disable());

const about = { kind: 'payout' as const, name: 'R-1' };
const { traceId, spanId: root } = traceOf('ledger', about);
const start = { name: 'payout attempt', about, fields: { reference: 'R-1' } };
const unrecorded = new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`);

/** Registers an SDK that records spans in memory; `begin` may break what it likes. */
function register(flags = TraceFlags.SAMPLED, begin = (): void => undefined) {
  const spans: { name: string; options: SpanOptions; parent: string; said: object; ended: boolean }[] = [];
  const startSpan = (name: string, options: SpanOptions, context: Context): Span => {
    begin();
    const from = trace.getSpanContext(context);
    const record = { name, options, parent: from?.spanId ?? '', said: {}, ended: false };
    spans.push(record);
    const ids = {
      traceId: from?.traceId ?? '',
      spanId: `${spans.length}`.padStart(16, '0'),
      traceFlags: flags,
    };
    return Object.assign(trace.wrapSpanContext(ids), {
      setAttributes(said: object) {
        record.said = said;
        return this;
      },
      end() {
        record.ended = true;
      },
    });
  };
  const tracer = { startSpan, startActiveSpan: () => expect.fail('no span is active') };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return spans;
}

function open() {
  let now = 0;
  const warn = vi.fn<(...said: unknown[]) => void>();
  const clock = { monotonic: () => now };
  const pass = (ms: number): void => {
    now += ms;
  };
  const opened = openTraces({ ledgerId: 'ledger', version: '0', clock, log: { warn } });
  return { opened, warn, pass };
}

it('without an SDK a request still carries the trace of its payout, not recorded', async () => {
  const traces = await open().opened;
  expect(traces.isOn).toBe(false);
  const { traceparent } = traces.begin(start);
  expect(traceparent).toMatch(unrecorded);
  expect(traces.begin(start).traceparent).not.toBe(traceparent);
});

it('with an SDK a span is a child in the derived trace, and its ids go on the wire', async () => {
  const spans = register();
  const traces = await open().opened;
  expect(traces.isOn).toBe(true);
  const span = traces.begin(start);
  span.end({ outcome: 'accepted' });
  expect(span.traceparent).toBe(`00-${traceId}-0000000000000001-01`);
  expect(spans).toMatchObject([
    { name: 'payout attempt', parent: root, said: { outcome: 'accepted' }, ended: true },
  ]);
  expect(spans[0]?.options.attributes).toEqual({ reference: 'R-1' });
});

it('a span that the SDK does not sample says so on the wire', async () => {
  register(TraceFlags.NONE);
  expect((await open().opened).begin(start).traceparent).toBe(`00-${traceId}-0000000000000001-00`);
});

it('the request that brought a webhook is a link of it, and the parent of what has no trace', async () => {
  const spans = register();
  const traces = await open().opened;
  const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
  traces.begin({ ...start, parent });
  expect(traces.begin({ name: 'webhook received', parent }).traceparent).toContain(parent.traceId);
  expect(spans[0]?.options.links).toMatchObject([{ context: parent }]);
  expect(spans[1]).toMatchObject({ parent: parent.spanId, options: { links: [] } });
});

it('an SDK that throws stops nothing: it rests for a minute', async () => {
  const spans = register(TraceFlags.SAMPLED, () => {
    throw new Error('no exporter');
  });
  const { opened, warn, pass } = open();
  const traces = await opened;
  const span = traces.begin(start);
  expect(() => span.end({ outcome: 'accepted' })).not.toThrow();
  expect(span.traceparent).toMatch(unrecorded);
  traces.begin(start);
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0]?.[0]).toEqual({ why: 'no exporter' });
  pass(60_001);
  traces.begin(start);
  expect(warn).toHaveBeenCalledTimes(2);
  expect(spans).toEqual([]);
});

it('an SDK that is slow is asked once, and then rests', async () => {
  let pass: (ms: number) => void = () => undefined;
  const begun = vi.fn<() => void>(() => pass(5000));
  register(TraceFlags.SAMPLED, begun);
  const made = open();
  pass = made.pass;
  const traces = await made.opened;
  for (let n = 0; n < 100; n++) traces.begin(start).end();
  expect(begun).toHaveBeenCalledTimes(1);
  expect(made.warn.mock.calls).toEqual([[{ why: 'a call of the SDK took 5000 ms' }, expect.any(String)]]);
});

it.each([
  ['a span id that would add a header', { spanId: '1\r\nauthorization: x' }],
  ['another trace', { traceId: 'c'.repeat(32) }],
  ['zeros', { spanId: '0'.repeat(16) }],
])('never sends what an SDK makes up: %s', async (_name, wrong) => {
  const ids = { traceId, spanId: 'd'.repeat(16), traceFlags: 1, ...wrong };
  const tracer = { startSpan: () => trace.wrapSpanContext(ids), startActiveSpan: () => expect.fail('no') };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  expect((await open().opened).begin(start).traceparent).toMatch(unrecorded);
});

it('a line about a payout, a run or a batch names its trace, and another does not', () => {
  const lines: string[] = [];
  const log = createLogger({ to: { write: (line) => void lines.push(line) } });
  const traced = traceLines(log, 'ledger');
  traced.warn({ reference: 'r-1', account_number: '0123456789' }, 'one');
  traced.info({ batch: 'b' }, 'two');
  traced.child({ deep: 1 }).error({ run: '7' }, 'three');
  traced.info('four');
  log.info({ batch: 'b' }, 'five');
  const [one, two, three, four, five] = lines.map((line) => JSON.parse(line));
  expect(one).toMatchObject({ level: 'warn', trace_id: traceId, account_number: '******6789' });
  expect(two.trace_id).toBe(traceOf('ledger', { kind: 'batch', name: 'b' }).traceId);
  expect(three.trace_id).toBe(traceOf('ledger', { kind: 'run', name: '7' }).traceId);
  expect([four.trace_id, five.trace_id]).toEqual([undefined, undefined]);
});
