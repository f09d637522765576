import { type LocalTime, localTimeIn } from './local-time.ts';
import type { Random } from './random.ts';

const minute = 60_000;
const hour = 60 * minute;

/** A zone whose clock changes on the simulated day. `fixed`: a time of day that the change skips, repeats or ends at. */
export type ZoneWeather = {
  name: string;
  changesAt: number;
  way: 'forward' | 'back';
  startsAt: number;
  fixed: Omit<LocalTime, 'date'>;
};

/** Clocks that go forward by an hour, by half an hour, at midnight, and after Ramadan. */
const forward = [
  ['Europe/Vienna', '2027-03-28T01:00Z'],
  ['America/New_York', '2027-03-14T07:00Z'],
  ['Africa/Cairo', '2027-04-29T22:00Z'],
  ['Africa/Casablanca', '2027-03-14T02:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
] as const;

/** Clocks that go back so. */
const back = [
  ['Europe/Vienna', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Africa/Cairo', '2026-10-29T21:00Z'],
  ['Africa/Casablanca', '2027-02-07T02:00Z'],
  ['Australia/Lord_Howe', '2027-04-03T15:00Z'],
  ['America/Santiago', '2027-04-04T03:00Z'],
] as const;

/** A clock that goes forward shows itself less often: nothing happens in the hour that it leaves out. */
const forwardShare = 0.5;

type Change = (typeof forward | typeof back)[number];

export function drawZoneWeather(random: Random): ZoneWeather {
  const way = random.chance(forwardShare) ? 'forward' : 'back';
  const [name, at] = way === 'forward' ? random.pick<Change>(forward) : random.pick<Change>(back);
  const changesAt = Date.parse(at);
  const localTime = localTimeIn(name);
  const [before, after] = [localTime(changesAt - minute), localTime(changesAt)];
  // What lies between the two readings is skipped, or happens twice.
  const first = way === 'back' ? after.minutes : before.minutes + 1;
  const minutes = (first + random.pick([0, 15, 30, 60])) % (24 * 60);
  return { name, changesAt, way, startsAt: changesAt - random.between(hour, 5 * hour), fixed: { minutes } };
}
