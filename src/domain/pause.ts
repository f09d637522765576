/**
 * The longest pause that a service may impose, in ms; longer requests are cut to this. A longer stored wait therefore
 * comes from a clock that was ahead.
 */
export const longestPauseMs = 3_600_000;
