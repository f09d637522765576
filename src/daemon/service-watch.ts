import type { Clock } from '../core/runtime/clock.ts';
import type { ServiceTimes } from '../core/runtime/service-times.ts';

/** A service that answers no request for so long is an alert. */
const silentMs = 2 * 60_000;
/** One request that failed may be a chance. */
const fewestFailed = 2;

type Standing = { kind: 'unasked' } | { kind: 'answers' } | { kind: 'fails'; count: number; sinceMs: number };

/** Watches whether the service answers the requests of this process. A gateway's 5xx is no answer of the service. */
export function createServiceWatch({ monotonic }: Pick<Clock, 'monotonic'>) {
  let standing: Standing = { kind: 'unasked' };
  const watcher: ServiceTimes = {
    onRateWait: () => undefined,
    onRequest({ result, seconds }) {
      if (/^[234]xx$/.test(result)) standing = { kind: 'answers' };
      else if (standing.kind === 'fails') standing.count += 1;
      else standing = { kind: 'fails', count: 1, sinceMs: monotonic() - seconds * 1000 };
    },
  };
  return {
    watcher,
    /** Undefined where this process cannot tell: it has asked nothing yet, or the failures are too few or too young. */
    standing(): 'answers' | 'silent' | undefined {
      if (standing.kind === 'unasked') return undefined;
      if (standing.kind === 'answers') return 'answers';
      const isLong = monotonic() - standing.sinceMs >= silentMs && standing.count >= fewestFailed;
      return isLong ? 'silent' : undefined;
    },
  };
}
