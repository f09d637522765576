/**
 * How long a stamp still makes its readers wait, in ms. `notedMs` is the wall clock of its writer: no wait lasts
 * longer than it did when it was written, so a clock that was set back since prolongs none (P33).
 */
export function remainingMs(
  { untilMs, notedMs }: { untilMs: number; notedMs: number },
  nowMs: number,
): number {
  return Math.max(0, untilMs - (notedMs > nowMs ? notedMs : nowMs));
}
