import type { Wish } from './weather.ts';

const waiting = { turn: 'waiting' } as const;
const files = { turn: 'files' } as const;
const schedule = { turn: 'schedule' } as const;
const paper = { turn: 'paper' } as const;
const account = { turn: 'account' } as const;
const copies = { oldCopies: true } as const;

/** What whole days show too seldom; their number is no multiple of five. */
const wishes: readonly Partial<Wish>[] = [
  ...[waiting, waiting, waiting, waiting, waiting, waiting, waiting, waiting],
  ...[paper, paper, paper, paper, paper, paper, paper],
  ...[files, files, files, files, files],
  ...[copies, copies, copies, copies],
  ...[account, account, account, account, schedule, schedule, schedule, schedule, schedule],
  { turn: 'paper', fault: '429 with envelope' },
  { turn: 'files', fault: 'late on the network' },
  { turn: 'paper', fault: 'refused 24' },
  { turn: 'paper', doubtful: true },
  { turn: 'paper', doubtful: true },
  { turn: 'files', fault: 'HTML page' },
  { fault: 'halt 10' },
  { brake: 'daily limit' },
  { doubtful: true },
];

/** Each fifth day of a long run is whole. The others are short, and each shows one thing that is rare otherwise. */
export function wishOf(seed: number): Partial<Wish> {
  if (seed % 5 === 0) return {};
  return { small: true, ...wishes[seed % wishes.length] };
}
