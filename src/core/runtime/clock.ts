/** Time as an argument: the wall clock for records, the monotonic clock for durations. */
export type Clock = {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Wall clock, ISO 8601 UTC with milliseconds: the ledger's form of an instant. */
  iso(): string;
  /** Monotonic milliseconds, unrelated to the wall clock. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never throws. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/** An instant by both clocks, in milliseconds. */
export type Moment = { monotonic: number; wall: number };

export function momentOf(clock: Clock): Moment {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * Milliseconds since a moment of this process, by the clock that counted more. The wall clock may step, and the
 * monotonic clock stops while the machine sleeps.
 */
export function elapsedSince(clock: Clock, { monotonic, wall }: Moment): number {
  return Math.max(clock.monotonic() - monotonic, Math.abs(clock.now() - wall));
}

/** The machine's clock. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    iso: () => new Date().toISOString(),
    monotonic: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done, { once: true });
      }),
  };
}
