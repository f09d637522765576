import { readFileSync } from 'node:fs';

// Preloaded with --import into a process whose wall clock is to step: `Date` shows the machine's time plus what
// the file that STEPPED_CLOCK_FILE names holds, in milliseconds. The monotonic clock and all timers stay as they are, as they
// do where somebody sets a machine's clock.

/** The file is read at most this often: `Date.now` is called thousands of times a second. */
const rereadMs = 50;

const path = process.env.STEPPED_CLOCK_FILE ?? '';
const realNow = Date.now;
let offset = 0;
let readAt = Number.NEGATIVE_INFINITY;

function steppedNow(): number {
  const at = performance.now();
  if (at - readAt >= rereadMs) {
    readAt = at;
    offset = readOffset();
  }
  return realNow() + offset;
}

/** What the file says; what it said before while it is being written. */
function readOffset(): number {
  try {
    const text = readFileSync(path, 'utf8');
    return /^-?\d+$/.test(text) ? Number(text) : offset;
  } catch {
    return offset;
  }
}

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) =>
    Reflect.construct(target, args.length === 0 ? [steppedNow()] : args, self),
  apply: () => new Date(steppedNow()).toString(),
  get: (target, key, self) => (key === 'now' ? steppedNow : Reflect.get(target, key, self)),
});
