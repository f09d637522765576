import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './processes.ts';

/** How often the clock is set, and to what: seconds, an hour, a year, to both sides, and right again now and then. */
const everyMs = 10_000;
const firstAfterMs = 2_000;
const second = 1000;
const hour = 3600 * second;
const year = 365 * 24 * hour;
const offsets = [0, 3 * second, -7 * second, hour, -hour, year, -year, 40 * second, -90 * second] as const;

export type SteppingClock = {
  /** A place whose processes read the clock that steps. */
  place: Place;
  /** How often it was set so far. */
  steps(): number;
  stop(): void;
};

/** The wall clock of whatever runs in this place: set every ten seconds, while the clock of everybody else goes on. */
export function createSteppingClock(place: Place, random: () => number): SteppingClock {
  const file = join(place.dir, 'clock-offset');
  let steps = 0;
  let last = 0;
  const set = (offset: number): void => {
    // Replaced in one step, so that nobody reads half a number.
    writeFileSync(`${file}.new`, String(offset));
    renameSync(`${file}.new`, file);
    last = offset;
  };
  set(0);
  const step = (): void => {
    const others = offsets.filter((offset) => offset !== last);
    set(others[Math.floor(random() * others.length)] ?? 0);
    steps += 1;
    timer = setTimeout(step, everyMs);
  };
  let timer = setTimeout(step, firstAfterMs);
  const preload = new URL('../support/shifted-clock.mjs', import.meta.url).href;
  const env = { ...place.env, NODE_OPTIONS: `--import ${preload}`, SHIFTED_CLOCK_FILE: file };
  return {
    place: { ...place, env },
    steps: () => steps,
    stop: () => clearTimeout(timer),
  };
}
