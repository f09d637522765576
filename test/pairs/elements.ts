import { payoutStates } from '../../src/core/domain/payout.ts';
import { postFaults, questionFaults, webhookFaults } from '../simulation/coverage.ts';
import { listFlawKinds } from '../simulation/list-flaw.ts';
import { clockKinds, clockMove } from './moves/clock.ts';
import { tomorrowMove } from './moves/dates.ts';
import { endpointMoves } from './moves/endpoints.ts';
import { haltKinds, haltMove } from './moves/halts.ts';
import { holdKinds, holdMove } from './moves/holds.ts';
import { olderPaysMove } from './moves/looks.ts';
import { changedPayeeMove } from './moves/payees.ts';
import { listMove, postMove, questionMove, turnKinds, turnMove, webhookMove } from './moves/service.ts';
import { stateMove } from './moves/states.ts';
import { verbMoves } from './moves/verbs.ts';
import type { Move } from './stage.ts';

export const elementKinds = [
  'verb',
  'state',
  'hold',
  'halt',
  'post',
  'question',
  'webhook',
  'list',
  'turn',
  'clock',
  'date',
  'endpoint',
  'payee',
  'look',
] as const;
export type ElementKind = (typeof elementKinds)[number];

/** One thing that the program can do or meet, with the move that brings it into a play. `id`: `hold: balance`. */
export type Element = { id: string; kind: ElementKind; name: string; move: Move };

const each = <Name extends string>(
  kind: ElementKind,
  names: readonly Name[],
  move: (name: Name) => Move,
): Element[] => names.map((name) => ({ id: `${kind}: ${name}`, kind, name, move: move(name) }));

/** Everything, from the program's own total maps and the simulation's lists of troubles. */
export const allElements: readonly Element[] = [
  ...verbMoves.map(([name, move]): Element => ({ id: `verb: ${name}`, kind: 'verb', name, move })),
  ...each('state', payoutStates, stateMove),
  ...each('hold', holdKinds, holdMove),
  ...each('halt', haltKinds, haltMove),
  ...each('post', postFaults, postMove),
  ...each('question', questionFaults, questionMove),
  ...each('webhook', webhookFaults, webhookMove),
  ...each('list', listFlawKinds, listMove),
  ...each('turn', turnKinds, turnMove),
  ...each('clock', clockKinds, clockMove),
  ...each('date', ['tomorrow'], () => tomorrowMove),
  ...endpointMoves.map(
    ([name, move]): Element => ({ id: `endpoint: ${name}`, kind: 'endpoint', name, move }),
  ),
  ...each('payee', ['changed'], () => changedPayeeMove),
  ...each('look', ['an older file pays since'], () => olderPaysMove),
];
