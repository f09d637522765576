import type { Clock } from '../core/runtime/clock.ts';

/** A rate limit, as the sender uses it. It grants `atOnce` starts in one go; Infinity where there is no limit. */
export type Limiter = { take(signal?: AbortSignal): Promise<void>; atOnce: number };

/** Rate permits in stock. They are fetched beside the loop, so that waiting for one never delays an answer's commit. */
export type Permits = {
  count(): number;
  spend(n: number): void;
  /** Begins to fetch missing permits, and resolves when some have arrived; undefined when none are missing. */
  fill(wanted: number): Promise<void> | undefined;
};

/** How long the first permit waits for others to share its commit. */
const patienceMs = 2;

export function createPermits(
  { limiter, clock }: { limiter: Limiter; clock: Clock },
  signal: AbortSignal | undefined,
): Permits {
  const { atOnce } = limiter;
  if (atOnce === Number.POSITIVE_INFINITY)
    return { count: () => atOnce, spend: () => undefined, fill: () => undefined };
  let stock = 0;
  const asked = new Set<Promise<void>>();
  let fetching: Promise<void> | undefined;
  let failure: { error: unknown } | undefined;
  const ask = (): void => {
    const one = limiter
      .take(signal)
      .then(
        () => {
          stock += 1;
        },
        (error: unknown) => {
          failure = { error };
        },
      )
      .finally(() => void asked.delete(one));
    asked.add(one);
  };
  const fetchSome = async (): Promise<void> => {
    const all = Promise.all(asked);
    await Promise.race(asked);
    const stop = new AbortController();
    await Promise.race([all, clock.sleep(patienceMs, stop.signal)]);
    stop.abort('fetched');
    fetching = undefined;
  };
  return {
    count: () => stock,
    spend: (n) => {
      stock -= n;
    },
    fill(wanted) {
      if (stock >= wanted) return undefined;
      if (failure) throw failure.error;
      if (fetching) return fetching;
      // No more than one commit can use: a permit that waits here is kept from all other processes.
      while (asked.size < Math.min(wanted - stock, atOnce)) ask();
      fetching = fetchSome();
      return fetching;
    },
  };
}
