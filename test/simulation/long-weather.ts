import { drawListFlaw, type ListFlaw } from './list-flaw.ts';
import type { Random } from './random.ts';
import { drawZoneWeather, type ZoneWeather } from './zone-weather.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** How far off the machine's clock is set. */
export const clockScales = ['seconds', 'minutes', 'an hour', 'a year'] as const;
export type ClockScale = (typeof clockScales)[number] | 'days';

/** How another account of the service comes to be named: another address with our key, or our address with another key. */
export type Elsewhere = 'address' | 'key';

/** What shows itself only over days, or only to who reads what is written beside the ledger. */
export type LongWeather = {
  /** How far off the clock is set now and then; empty where it is right. */
  clock: readonly ClockScale[];
  /** How likely a transfer that failed turns out to be paid after all, and how late it does. */
  turnsLate: number;
  drawTurnMs(random: Random): number;
  /** Orders wait for days: what keeps a batch is let go of late, and whoever looks does so rarely. */
  ordersWait: boolean;
  /** When the configuration names another account, one time after the other. */
  elsewhere: readonly { by: Elsewhere; fromMs: number; untilMs: number }[];
  /** `schedules.submit` is not empty. */
  sweeps: boolean;
  /** `intake.on_invalid_row: skip_row`, and files that have such rows. */
  skipsRows: boolean;
  /** Files come into the inbox, some of them in pieces. */
  dropsFiles: boolean;
  /** Every eight hours, or each day of several, the office reads what is on paper. */
  readsPaper: boolean;
  /** What was paid comes back and is shown as failed (P36), and some of it is shown as paid again later. */
  returns: boolean;
  /** Now and then the office closes the month before; the day lies over the end of one. */
  closes: boolean;
  /** People decide at once, and on batches of several transactions. */
  races: boolean;
  /** What keeps the service's list from being complete; null: nothing does. */
  listFlaw: ListFlaw | null;
  /** The office's clock changes within this day; null: it does not. */
  zone: ZoneWeather | null;
};

export const shortWeather: LongWeather = {
  clock: [],
  turnsLate: 0,
  drawTurnMs: () => 0,
  ordersWait: false,
  elsewhere: [],
  sweeps: true,
  skipsRows: false,
  dropsFiles: false,
  readsPaper: false,
  returns: false,
  closes: false,
  races: false,
  listFlaw: null,
  zone: null,
};

/** One of these that a day must have, and none of the others; the seed decides all else. */
export const turnNames = [
  'clock',
  'waiting',
  'account',
  'schedule',
  'files',
  'paper',
  'races',
  'returns',
  'list',
  'zone',
] as const;
export type TurnName = (typeof turnNames)[number];

/** How long a day is in which orders wait. */
export function drawLongDayMs(random: Random): number {
  return random.between(1.5 * day, 3 * day);
}

export function drawLongWeather(
  random: Random,
  { wished, more, small }: { wished: TurnName | null; more: readonly TurnName[]; small: boolean },
): LongWeather {
  const wants = (name: TurnName, likely: number): boolean => {
    const drawn = random.chance(likely);
    return more.includes(name) || (wished === null ? drawn && !small : wished === name);
  };
  const ordersWait = wants('waiting', 0.45);
  const someScale = random.pick<readonly ClockScale[]>([
    ['seconds'],
    ['seconds'],
    ['an hour'],
    ['a year'],
    clockScales,
  ]);
  // Often before the first batch: what is sent while another account is named is what goes there.
  const fromMs = random.chance(0.4) ? 0 : random.between(0, 6 * hour);
  const own = random.fork('lists and zones');
  const drawn: Omit<LongWeather, 'closes'> = {
    clock: wants('clock', 0.5) ? someScale : [],
    turnsLate: ordersWait ? 0.6 : random.pick([0, 0.2, 0.4]),
    drawTurnMs: (turns) => turns.between(minute, ordersWait ? 2 * day : 8 * hour),
    ordersWait,
    elsewhere: wants('account', 0.35) ? drawElsewhere(random, fromMs) : [],
    sweeps: !wants('schedule', 0.2),
    skipsRows: wants('files', 0.5),
    dropsFiles: wants('files', 0.75),
    readsPaper: wants('paper', 0.9),
    races: wants('races', 0.3),
    returns: wants('returns', 0.3),
    listFlaw: wants('list', 0.2) ? drawListFlaw(own) : null,
    zone: wants('zone', 0.3) ? drawZoneWeather(own) : null,
  };
  const closes = drawn.readsPaper && own.chance(wished === 'paper' ? 0.9 : 0.7);
  // What a closed month has as paid comes back now and then.
  return { ...drawn, closes, returns: drawn.returns || (closes && own.chance(0.5)) };
}

/** The first account and the other one in turn, with some hours at home between them. */
function drawElsewhere(random: Random, firstMs: number): LongWeather['elsewhere'] {
  const names = random.chance(0.5) ? (['address', 'key'] as const) : (['key', 'address'] as const);
  const visits: { by: Elsewhere; fromMs: number; untilMs: number }[] = [];
  for (let fromMs = firstMs, n = 0; n < 4; n++) {
    const untilMs = fromMs + random.between(hour / 2, 4 * hour);
    visits.push({ by: names[n % 2] ?? 'key', fromMs, untilMs });
    fromMs = untilMs + random.between(hour, 4 * hour);
  }
  return visits;
}

/** How far off the clock is set now; 0 sets it right. */
export function drawClockError(random: Random, scales: readonly ClockScale[]): number {
  const [first = 'minutes', ...others] = scales;
  switch (random.pick([first, ...others])) {
    case 'seconds':
      return random.pick([1, -1]) * random.between(6 * second, 90 * second);
    case 'minutes':
      return random.between(-150, 150) * minute;
    case 'an hour':
      return random.pick([hour, -hour]);
    case 'days':
      return random.between(-3, 3) * day;
    case 'a year':
      return random.pick([year, -year]);
  }
}

/** What a step of so many milliseconds is called in the counts. */
export function nameStep(ms: number): `${'forward' | 'back'} by ${string}` {
  const size = Math.abs(ms);
  const far =
    size > 30 * day ? 'a year' : size >= 12 * hour ? 'days' : size >= 30 * minute ? 'an hour' : 'seconds';
  return `${ms > 0 ? 'forward' : 'back'} by ${far}`;
}
