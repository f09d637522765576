import type { Clock } from './clock.ts';

/** Smaller differences come from NTP and affect no wait (P33). */
const stepMs = 5000;
const lookEveryMs = 1000;

/**
 * Compares the wall clock with the monotonic one until the signal aborts. Calls `onStep` with the milliseconds of each
 * step, negative for a step back. A suspended machine looks like a step forward.
 */
export async function watchWallSteps(
  clock: Clock,
  { signal, onStep }: { signal: AbortSignal; onStep(ms: number): Promise<void> },
): Promise<void> {
  const offset = (): number => clock.now() - clock.monotonic();
  for (let before = offset(); ; ) {
    await clock.sleep(lookEveryMs, signal);
    if (signal.aborted) return;
    const now = offset();
    const moved = now - before;
    // Compare with the last look, so that a slow drift never adds up to a step.
    before = now;
    if (Math.abs(moved) > stepMs) await onStep(moved);
  }
}
