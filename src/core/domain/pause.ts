/** The longest pause that a service may impose, in ms. A longer stored wait came from a clock that was ahead. */
export const longestPauseMs = 3_600_000;

/** The wait after so many tries: twice as long after each, at least what the other side asks for, at most an hour. */
export function growingPause(firstMs: number, tries: number, askedMs = 0): number {
  return Math.min(Math.max(firstMs * 2 ** Math.min(tries - 1, 20), askedMs), longestPauseMs);
}
