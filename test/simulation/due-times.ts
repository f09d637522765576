import { localTimeIn } from './local-time.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** A schedule as the oracle reads it: each so many minutes of the local hour, or once a local day at that minute. */
export type Rhythm = { every: number } | { daily: number };

/** Reads the two forms of node-cron expressions that the simulated office uses. */
export function readRhythm(expression: string): Rhythm {
  const [minutes = '', hours = ''] = expression.split(' ');
  return hours === '*'
    ? { every: Number(minutes.replace('*/', '')) }
    : { daily: Number(hours) * 60 + Number(minutes) };
}

/**
 * The due times of a rhythm in a zone, minute by minute from the runtime's own calendar. A day's fixed time is due at the
 * first minute of that day whose clock shows it or a later one: once where it happens twice, just after where it is skipped.
 */
export function dueTimes(rhythm: Rhythm, zone: string, startMs: number): (afterMs: number) => number {
  const localTime = localTimeIn(zone);
  const dues: number[] = [];
  const done = new Set<string>();
  let read = Math.floor(startMs / minute) * minute - day;
  const readMinute = (at: number): void => {
    const { date, minutes } = localTime(at);
    if ('every' in rhythm) {
      if (minutes % rhythm.every === 0) dues.push(at);
    } else if (minutes >= rhythm.daily && !done.has(date)) {
      done.add(date);
      dues.push(at);
    }
  };
  return (afterMs) => {
    for (;;) {
      const found = dues.find((at) => at > afterMs);
      if (found !== undefined) return found;
      readMinute(read);
      read += minute;
    }
  };
}
