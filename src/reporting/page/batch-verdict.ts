import type { CountedState } from '../../domain/payout.ts';
import { isUsable } from '../../domain/verdict.ts';
import type { BatchSums } from '../batch-sums.sql.ts';
import type { LastRun } from '../run-verdicts.sql.ts';

/** What is known of a batch as a whole. Only `reconciled` may look green. */
export type BatchVerdict =
  /** So many of its discrepancies are open. */
  | { kind: 'exceptions' }
  /** No run with a usable list has stated this batch. */
  | { kind: 'not_compared' }
  /** A payout of it changed after the last run had stated it. */
  | { kind: 'changed_since' }
  | { kind: 'nothing_sent' }
  /** It began in a month that is closed: the month's own statement speaks about it. */
  | { kind: 'closed_month' }
  /** Nothing of it is open, but its currency has exceptions whose causes are not all known. */
  | { kind: 'none_open' }
  | { kind: 'reconciled' };

const unsent = new Set<CountedState>(['held', 'ready', 'cancelled']);

/**
 * The verdict on a batch: that of its currencies in the last run, as far as the run stated the batch as it is now.
 * `closedUntil`: the end of the last closed month, ISO UTC.
 */
export function batchVerdict(
  batch: { created_at: string },
  sums: BatchSums,
  {
    last,
    isUnchanged,
    closedUntil,
  }: { last: LastRun | undefined; isUnchanged: boolean; closedUntil: string | null },
): BatchVerdict {
  if (sums.open > 0n) return { kind: 'exceptions' };
  const isUnsent = sums.paidCount === 0n && [...sums.unpaid.keys()].every((state) => unsent.has(state));
  if (isUnsent) return { kind: 'nothing_sent' };
  if (!last || !isUsable(last.list) || last.startedAt < batch.created_at) return { kind: 'not_compared' };
  if (!isUnchanged) return { kind: 'changed_since' };
  if (closedUntil !== null && batch.created_at < closedUntil) return { kind: 'closed_month' };
  const verdicts = [...sums.ordered.keys()].map(
    (currency) => last.currencies.find((one) => one.currency === currency)?.verdict ?? 'not_compared',
  );
  if (verdicts.includes('not_compared')) return { kind: 'not_compared' };
  return { kind: verdicts.includes('exceptions') ? 'none_open' : 'reconciled' };
}
