import type { WitnessStatus } from '../domain/payout.ts';
import type { Evidence } from './evidence.sql.ts';

export type Verdict = 'none' | 'no_answer' | 'no_witness' | 'not_found' | 'conflict' | WitnessStatus;

/** The verdict of the last look-up, whenever it was made; anything but a clear answer of the service is `no_answer`. */
export function verdictOf({ lookUp }: Pick<Evidence, 'lookUp'>): Verdict {
  if (!lookUp) return 'none';
  const { outcome, said } = lookUp;
  if (outcome === 'against_ledger' || outcome === 'differs') return 'conflict';
  if (outcome === 'not_found' || outcome === 'no_witness') return outcome;
  return outcome === 'found' ? (said ?? 'no_answer') : 'no_answer';
}
