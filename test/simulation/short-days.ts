import type { TurnName } from './long-weather.ts';
import type { Wish } from './weather.ts';

const waiting = { turn: 'waiting' } as const;
const files = { turn: 'files' } as const;
const schedule = { turn: 'schedule' } as const;
const paper = { turn: 'paper' } as const;
const account = { turn: 'account' } as const;
const list = { turn: 'list', oldCopies: true } as const;
const races = { turn: 'races' } as const;
const approvals = { turn: 'races', brake: 'approval' } as const;
const returns = { turn: 'returns' } as const;
const zone = { turn: 'zone' } as const;
const clock = { turn: 'clock' } as const;
const copies = { oldCopies: true } as const;

/** Each so many seeds one day is whole: it takes as long as eight others. */
const wholeDayEvery = 11;

/** What whole days show too seldom; their number is no multiple of {@link wholeDayEvery}. */
const wishes: readonly Partial<Wish>[] = [
  ...times(4, waiting),
  ...times(20, paper),
  ...times(4, files),
  ...[copies, clock, clock, clock, clock],
  ...times(4, account),
  ...times(5, schedule),
  ...times(5, races),
  ...times(6, approvals),
  ...times(28, returns),
  ...times(6, list),
  ...times(8, zone),
  { turn: 'zone', brake: 'daily limit' },
  { turn: 'zone', brake: 'daily limit' },
  { turn: 'paper', fault: '429 with envelope' },
  { turn: 'files', fault: 'late on the network' },
  { turn: 'paper', fault: 'refused 24' },
  { turn: 'paper', doubtful: true },
  { turn: 'paper', doubtful: true },
  { turn: 'files', fault: 'HTML page' },
  { fault: 'halt 10' },
  { brake: 'daily limit' },
  ...times(4, { brake: 'day of payment' }),
  { turn: 'zone', brake: 'day of payment' },
  { turn: 'clock', brake: 'day of payment' },
  { doubtful: true },
];

function times(n: number, wish: Partial<Wish>): Partial<Wish>[] {
  return Array.from({ length: n }, () => wish);
}

/** What a day has beside the one thing that it shows, where neither hides the other. */
const beside: Record<TurnName, readonly TurnName[]> = {
  clock: [],
  waiting: ['zone'],
  account: ['zone'],
  schedule: ['zone', 'returns'],
  files: ['zone'],
  paper: [],
  races: ['zone'],
  returns: ['zone'],
  list: ['races', 'zone'],
  zone: ['races'],
};

/** Some days of a long run are whole. The others are short, and each shows one thing that is rare otherwise. */
export function wishOf(seed: number): Partial<Wish> {
  if (seed % wholeDayEvery === 0) return {};
  const wish = wishes[seed % wishes.length];
  return { small: true, ...wish, more: wish?.turn ? beside[wish.turn] : ['zone'] };
}
