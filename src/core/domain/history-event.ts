import type { AttemptOutcome } from './outcome.ts';
import type { WitnessStatus } from './payout.ts';
import type { LedgerEvent } from './transition.ts';
import type { Witness } from './witness.ts';

type Plain = Exclude<LedgerEvent['kind'], 'outcome' | 'witness' | 'settle'>;

/** What an entry of a payout's history records; the ledger takes no other. */
export type HistoryEvent =
  | 'intake'
  | Plain
  | AttemptOutcome['kind']
  | `${Witness['source']} says ${WitnessStatus}`
  | `settle as ${'success' | 'failed'}`;

export function historyEvent(event: LedgerEvent): HistoryEvent {
  if (event.kind === 'outcome') return event.outcome.kind;
  if (event.kind === 'witness') return `${event.witness.source} says ${event.witness.status}`;
  return event.kind === 'settle' ? `settle as ${event.as}` : event.kind;
}
