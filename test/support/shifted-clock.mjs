// Loaded before a program: its wall clock is off by the milliseconds that stand in the file SHIFTED_CLOCK_FILE,
// from the moment they are written. The monotonic clock and timers stay as they are.
import { readFileSync } from 'node:fs';

const file = process.env.SHIFTED_CLOCK_FILE ?? '';
const realNow = Date.now;
const read = { at: Number.NEGATIVE_INFINITY, ms: 0 };

function shiftMs() {
  const at = performance.now();
  if (at - read.at > 20) {
    read.at = at;
    try {
      const text = readFileSync(file, 'utf8');
      // While it is being written, the shift before it stands.
      if (/^-?\d+$/.test(text)) read.ms = Number(text);
    } catch {
      // No file: no shift.
    }
  }
  return read.ms;
}

const now = () => realNow() + shiftMs();

globalThis.Date = new Proxy(Date, {
  construct: (target, given, by) => Reflect.construct(target, given.length === 0 ? [now()] : given, by),
  apply: () => new Date(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
