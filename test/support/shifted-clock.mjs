// Loaded before a program: its wall clock is off by the milliseconds that stand in the file SHIFTED_CLOCK_FILE,
// from the moment they are written. The monotonic clock and timers stay as they are.
import { readFileSync } from 'node:fs';

const file = process.env.SHIFTED_CLOCK_FILE;
const RealDate = Date;
let read = { at: Number.NEGATIVE_INFINITY, ms: 0 };

function shiftMs() {
  const at = performance.now();
  if (file !== undefined && at - read.at > 20) {
    let text = '';
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      // No file: no shift.
    }
    read = { at, ms: Number(text) || 0 };
  }
  return read.ms;
}

const now = () => RealDate.now() + shiftMs();

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, by) => Reflect.construct(target, given.length === 0 ? [now()] : given, by),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
