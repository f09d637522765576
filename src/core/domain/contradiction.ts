import type { PayoutState, RecordSource, WitnessStatus } from './payout.ts';

/** One field in which the service's word and ours differ. */
export type Difference = { field: string; expected: string; actual: string };

/**
 * A word of the service that cannot be true together with what the ledger holds (P14, P15, P18). `against_ledger`: a
 * status against the state of the payout then. `against_webhook`: a final status against the one of an earlier webhook.
 * `differs`: it names our transfer and shows another.
 */
export type Contradiction =
  | { kind: 'against_ledger'; source: RecordSource; said: WitnessStatus; state: PayoutState }
  | { kind: 'against_webhook'; said: 'success' | 'failed' }
  | { kind: 'differs'; differences: readonly Difference[] };

export function contradictionText(one: Contradiction): string {
  switch (one.kind) {
    case 'against_ledger':
      return againstLedger(one);
    case 'against_webhook':
      return `a webhook says ${one.said}, an earlier one said ${one.said === 'success' ? 'failed' : 'success'}`;
    case 'differs':
      return one.differences
        .map(({ field, actual, expected }) => `${field} is ${actual}, ours ${expected}`)
        .join('; ');
  }
}

type AgainstLedger = Extract<Contradiction, { kind: 'against_ledger' }>;

function againstLedger({ source, said, state }: AgainstLedger): string {
  switch (state) {
    case 'ready':
    case 'held':
      return 'the service shows a transfer that was never sent';
    case 'cancelled':
      return 'the service shows a transfer that was cancelled before it was sent';
    case 'refused':
      return 'a webhook for a refused payout';
    default:
      return `${source} says ${said}, the ledger says ${state}`;
  }
}
