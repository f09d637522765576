import type { WitnessStatus } from '../../core/domain/payout.ts';
import type { PayoutEvidence } from './evidence.sql.ts';

export type LookUpResult = 'none' | 'no_answer' | 'no_witness' | 'not_found' | 'conflict' | WitnessStatus;

/** The result of the last look-up, whenever it was made; anything but a clear answer of the service is `no_answer`. */
export function lookUpResultOf({
  lookUp,
  payout,
}: Pick<PayoutEvidence, 'lookUp'> & { payout: Pick<PayoutEvidence['payout'], 'state'> }): LookUpResult {
  if (!lookUp) return 'none';
  const { outcome, said } = lookUp;
  // P36: it spoke against the success. Of a payout that has come back since, it says the same as the ledger.
  if (outcome === 'against_ledger' && said === 'failed' && payout.state === 'returned') return 'failed';
  if (outcome === 'against_ledger' || outcome === 'differs') return 'conflict';
  if (outcome === 'not_found' || outcome === 'no_witness') return outcome;
  return outcome === 'found' ? (said ?? 'no_answer') : 'no_answer';
}
