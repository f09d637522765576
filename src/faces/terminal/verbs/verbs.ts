import { decideVerbs } from './decide-verbs.ts';
import type { CommandEntry } from './entry.ts';
import { operateVerbs } from './operate-verbs.ts';
import { payVerbs } from './pay-verbs.ts';
import { startVerbs } from './start-verbs.ts';
import { watchVerbs } from './watch-verbs.ts';

/** The commands in five groups, by what a person wants to do. */
export const verbGroups: readonly (readonly [group: string, verbs: readonly CommandEntry[]])[] = [
  ['Start', startVerbs],
  ['Pay', payVerbs],
  ['Watch', watchVerbs],
  ['Decide', decideVerbs],
  ['Operate', operateVerbs],
];
