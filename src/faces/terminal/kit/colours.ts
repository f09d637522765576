import type { Severity } from '../../../core/domain/discrepancy-kinds.ts';
import type { BatchState, CountedState } from '../../../core/domain/payout.ts';
import type { Colour } from './ink.ts';

/** The colour of each payout state: good is paid, bad needs a decision, doubt needs a person's eye. */
export const payoutColours: Record<CountedState, Colour> = {
  held: 'doubt',
  ready: 'moving',
  sending: 'moving',
  pending: 'moving',
  success: 'good',
  failed: 'bad',
  refused: 'bad',
  unknown: 'doubt',
  cancelled: 'faint',
  returned: 'bad',
  paid_again: 'faint',
  waits_again: 'faint',
  failed_again: 'faint',
};

export const batchColours: Record<BatchState, Colour> = {
  loading: 'moving',
  held: 'doubt',
  ready: 'moving',
  sending: 'moving',
  sent: 'moving',
  done: 'good',
  cancelled: 'faint',
};

export const severityColours: Record<Severity, Colour> = { high: 'bad', medium: 'doubt', low: 'faint' };
