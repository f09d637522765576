/**
 * No service may make us wait for longer, in ms: what it asks beyond is cut to this. So whatever waits for longer waits for
 * a clock that was ahead and is right again.
 */
export const longestPauseMs = 3_600_000;
