import { expect, it } from 'vitest';
import { newTrace, readTraceparent, subjectOf, traceOf, unsampled } from '../../../src/core/domain/trace.ts';

const ledger = '0b6f2c1e-5a55-4f3c-9f5e-1f6f9f1f8a01';

it('derives the same trace of a payout for ever, whatever the case of its reference', () => {
  const trace = traceOf(ledger, { kind: 'payout', name: 'PAY-0001' });
  // SHA-256 of ["0b6f2c1e-5a55-4f3c-9f5e-1f6f9f1f8a01","payout","pay-0001"]
  expect(trace).toEqual({ traceId: '4326c63e82dfe363c15976fc403bb93d', spanId: 'a6f142f8e7c81723' });
  expect(traceOf(ledger, { kind: 'payout', name: 'pay-0001' })).toEqual(trace);
});

it('another ledger, kind or name has another trace', () => {
  const traces = [
    traceOf(ledger, { kind: 'payout', name: 'R-1' }),
    traceOf(ledger, { kind: 'batch', name: 'R-1' }),
    traceOf(ledger, { kind: 'payout', name: 'R-2' }),
    traceOf('another', { kind: 'payout', name: 'R-1' }),
  ];
  expect(new Set(traces.map(({ traceId }) => traceId)).size).toBe(traces.length);
});

it('the case of a name counts, except in the references of payouts and collections', () => {
  const isSame = (kind: 'collection' | 'batch' | 'run'): boolean =>
    traceOf(ledger, { kind, name: 'R-1' }).traceId === traceOf(ledger, { kind, name: 'r-1' }).traceId;
  expect([isSame('collection'), isSame('batch'), isSame('run')]).toEqual([true, false, false]);
});

it('a line is about its payout, else about its run, else about its batch', () => {
  const fields = { reference: 'R-1', run: 'r', batch: 'b' };
  expect(subjectOf(fields)).toEqual({ kind: 'payout', name: 'R-1' });
  expect(subjectOf({ ...fields, reference: 7 })).toEqual({ kind: 'run', name: 'r' });
  expect(subjectOf({ batch: 'b' })).toEqual({ kind: 'batch', name: 'b' });
  expect(subjectOf({ rows: 1 })).toBeUndefined();
});

it('a new trace is another one each time', () => {
  const [one, other] = [newTrace(), newTrace()];
  expect(one).toEqual({
    ...{ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), spanId: expect.stringMatching(/^[0-9a-f]{16}$/) },
  });
  expect(one.traceId).not.toBe(other.traceId);
  expect(one.traceId).not.toContain(one.spanId);
});

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

it('reads the traceparent of W3C', () => {
  expect(readTraceparent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId });
});

it('asks for no record of a request in a trace that it only names', () => {
  expect(unsampled({ traceId })).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
});

it.each([
  ['nothing', undefined],
  ['two of them', [`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`]],
  ['a list of one', [`00-${traceId}-${spanId}-01`]],
  ['two joined by Node', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
  ['another version', `01-${traceId}-${spanId}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['capitals', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['more after it', `00-${traceId}-${spanId}-01-x`],
  ['a line break after it', `00-${traceId}-${spanId}-01\n`],
  ['an id that is too short', `00-${traceId.slice(1)}-${spanId}-01`],
  ['a megabyte', 'a'.repeat(1_000_000)],
])('ignores %s', (_name, header) => {
  expect(readTraceparent(header)).toBeUndefined();
});
