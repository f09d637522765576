/**
 * The remaining wait of a stamp, in ms. `notedMs` is its writer's wall clock. No wait grows beyond what it was when
 * written, so a clock that was set back prolongs none (P33).
 */
export function remainingMs(
  { untilMs, notedMs }: { untilMs: number; notedMs: number },
  nowMs: number,
): number {
  return Math.max(0, untilMs - (notedMs > nowMs ? notedMs : nowMs));
}
