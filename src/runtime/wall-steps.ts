import type { Clock } from './clock.ts';

/** A smaller difference is the work of NTP, which nothing that waits here notices (P33). */
const stepMs = 5000;
const lookEveryMs = 1000;

/**
 * Watches the wall clock against the monotonic one until the signal aborts. Calls `onStep` with the milliseconds by which
 * the wall clock stepped, negative for back. A machine that was suspended looks like a step forward.
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
    // A slow drift never adds up to a step.
    before = now;
    if (Math.abs(moved) > stepMs) await onStep(moved);
  }
}
