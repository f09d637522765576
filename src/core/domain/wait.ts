/**
 * The remaining wait of a stamp, in ms. `notedMs` is its writer's wall clock. No wait grows beyond what it was when
 * written, so a clock that was set back prolongs none (P33).
 */
export function remainingMs(
  { untilMs, notedMs }: { untilMs: number; notedMs: number },
  nowMs: number,
): number {
  return Math.max(0, untilMs - Math.max(notedMs, nowMs));
}

/** An instant moved by a number of milliseconds, which may be negative; ISO UTC. */
export function later(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}
