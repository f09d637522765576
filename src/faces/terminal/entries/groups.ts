import { decideEntries } from './decide.ts';
import type { CommandEntry } from './entry.ts';
import { operateEntries } from './operate.ts';
import { payEntries } from './pay.ts';
import { startEntries } from './start.ts';
import { watchEntries } from './watch.ts';

/** The commands in five groups, by what a person wants to do. */
export const entryGroups: readonly (readonly [group: string, verbs: readonly CommandEntry[]])[] = [
  ['Start', startEntries],
  ['Pay', payEntries],
  ['Watch', watchEntries],
  ['Decide', decideEntries],
  ['Operate', operateEntries],
];
