/** The longest pause that a service may impose, in ms. A longer stored wait came from a clock that was ahead. */
export const longestPauseMs = 3_600_000;
