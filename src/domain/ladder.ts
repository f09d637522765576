const minute = 60_000;
const rungs = [1, 5, 15, 60].map((minutes) => minutes * minute);

/**
 * How long after its outcome became unknown, or after the last look-up, a payout is looked up again (P19): at 1, 5, 15
 * and 60 minutes, then hourly to the end of the quiet period, then daily. Milliseconds from the previous rung.
 */
export function ladderDelayMs(
  rung: number,
  sinceUnknownMs = 0,
  quietPeriodMs = Number.POSITIVE_INFINITY,
): number {
  const own = rungs[rung];
  if (own !== undefined) return own - (rungs[rung - 1] ?? 0);
  return sinceUnknownMs < quietPeriodMs ? 60 * minute : 24 * 60 * minute;
}
