import type { FrozenWords } from '../books/frozen-words.ts';
import { actionFor, commandFor, stepFor } from './discrepancy-words.ts';
import { haltCauseText } from './halt-words.ts';
import { listWords } from './list-words.ts';

/** How the frozen rows of runs and months read. */
export const frozenWords: FrozenWords = {
  unlisted: (list) => listWords[list].unlisted,
  action: actionFor,
  step: stepFor,
  command: commandFor,
  halt: haltCauseText,
};
