import type { AttemptOutcome } from './outcome.ts';
import type { WitnessStatus } from './payout.ts';
import type { LedgerEvent } from './transition.ts';
import type { Witness } from './witness.ts';

type Plain = Exclude<LedgerEvent['kind'], 'outcome' | 'witness' | 'settle' | 'replaced'>;
type PersonsEnd = Extract<LedgerEvent, { kind: 'settle' }>['as'];

/**
 * What an entry of a payout's history records, in the word that the ledger stores; it takes no other. A stored word is
 * part of a chain of hashes (P27), so that none is ever changed.
 */
export type HistoryEvent =
  | 'intake'
  | Plain
  | AttemptOutcome['kind']
  | typeof replacedEvent
  | `${Witness['source']} says ${WitnessStatus}`
  | (typeof settleEvents)[PersonsEnd];

/** The stored word of the event `replaced`. */
export const replacedEvent = 'succeeded';

/** The stored words of what a person settled, by the state that it was settled as. */
export const settleEvents = {
  success: 'settle as success',
  failed: 'settle as failed',
} as const satisfies Record<PersonsEnd, string>;

export function historyEvent(event: LedgerEvent): HistoryEvent {
  switch (event.kind) {
    case 'outcome':
      return event.outcome.kind;
    case 'witness':
      return `${event.witness.source} says ${event.witness.status}`;
    case 'settle':
      return settleEvents[event.as];
    case 'replaced':
      return replacedEvent;
    default:
      return event.kind;
  }
}

/** The source of a retry that no person ordered: the payout's absence was confirmed (P16). */
export const automaticSource = 'confirmed_absent';
