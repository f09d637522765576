import { expect, it } from 'vitest';
import { createServiceWatch } from '../../src/daemon/service-watch.ts';

function watch() {
  let mono = 0;
  const service = createServiceWatch({ monotonic: () => mono });
  const ask = (result: string, atMs: number): void => {
    mono = atMs;
    service.watcher.onRequest({ operation: 'bank_transfer', result, seconds: 1 });
  };
  const at = (ms: number): ReturnType<typeof service.standing> => {
    mono = ms;
    return service.standing();
  };
  return { ask, at };
}

it('calls a service silent two minutes after the first of several requests that it left unanswered', () => {
  const { ask, at } = watch();
  expect(at(0)).toBeUndefined();
  ask('2xx', 1000);
  expect(at(1000)).toBe('answers');
  ask('timed_out', 11_000);
  ask('not_sent', 71_000);
  expect(at(129_999)).toBeUndefined();
  expect(at(130_000)).toBe('silent');
  ask('4xx', 140_000);
  expect(at(140_000)).toBe('answers');
});

it('calls a service silent behind a gateway that answers for it, and never for one request alone', () => {
  const { ask, at } = watch();
  ask('5xx', 1000);
  expect(at(600_000)).toBeUndefined();
  ask('5xx', 601_000);
  expect(at(601_000)).toBe('silent');
});
