const minute = 60_000;
const hour = 60 * minute;
const rungs = [1, 5, 15, 60].map((minutes) => minutes * minute);

/** How many rungs the quiet period holds: always the first four, then one an hour (P19). */
export function rungsIn(quietPeriodMs: number): number {
  return rungs.length + Math.max(0, Math.floor((quietPeriodMs - hour) / hour));
}

/**
 * The wait before a rung of the look-up ladder (P19), in milliseconds from the previous rung or from the unknown
 * outcome. Rungs are at 1, 5, 15 and 60 minutes, then hourly to the end of the quiet period, then daily. A daemon that
 * stood still climbs missed rungs later and never skips one (P16).
 */
export function ladderDelayMs(
  rung: number,
  sinceUnknownMs = 0,
  quietPeriodMs = Number.POSITIVE_INFINITY,
): number {
  const own = rungs[rung];
  if (own !== undefined) return own - (rungs[rung - 1] ?? 0);
  return sinceUnknownMs < quietPeriodMs || rung < rungsIn(quietPeriodMs) ? hour : 24 * hour;
}

/** The ladder as ranges of rungs with the longest wait before each; the last range has no end. */
export function ladderRanges(quietPeriodMs: number): { from: number; to: number | null; mostMs: number }[] {
  const hourly = rungsIn(quietPeriodMs);
  return [
    ...rungs.map((_, rung) => ({ from: rung, to: rung + 1, mostMs: ladderDelayMs(rung) })),
    { from: rungs.length, to: hourly, mostMs: hour },
    { from: hourly, to: null, mostMs: 24 * hour },
  ];
}
