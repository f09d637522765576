/** Milliseconds since the epoch. */
export type Now = () => number;

/** Writes times as the interface does: UTC, microseconds, `Z`. Two stamps of the same millisecond differ. */
export function createStamp(now: Now): () => string {
  let lastMs = 0;
  let micros = 0;
  return () => {
    const ms = now();
    micros = ms === lastMs ? (micros + 1) % 1000 : 0;
    lastMs = ms;
    return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
  };
}
