import type { BatchSums } from '../../../books/batch-sums.sql.ts';
import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import type { CountedState } from '../../../core/domain/payout.ts';
import { differs, isCompared, isUsable } from '../../../core/domain/verdict.ts';

/** What is known of a batch as a whole. Only `reconciled` may look green. */
export type BatchVerdict =
  /** The last run has exceptions in a currency of it, and discrepancies of it are open. */
  | { kind: 'exceptions' }
  /** No run with a usable list has stated this batch. */
  | { kind: 'not_compared' }
  /** A payout of it changed after the last run had stated it. */
  | { kind: 'changed_since' }
  | { kind: 'nothing_sent' }
  /** Nothing of it is open, but its currency has exceptions whose causes are not all known. */
  | { kind: 'none_open' }
  | { kind: 'reconciled' };

const unsent = new Set<CountedState>(['held', 'ready', 'cancelled']);

/** The verdict on a batch: that of its currencies in the last run, as far as the run stated the batch as it is now. */
export function batchVerdict(
  batch: { created_at: string },
  sums: BatchSums,
  { last, isUnchanged }: { last: LastRun | undefined; isUnchanged: boolean },
): BatchVerdict {
  const verdicts = [...sums.ordered.keys()].map(
    (currency) => last?.currencies.find((one) => one.currency === currency)?.verdict ?? 'not_compared',
  );
  if (sums.open > 0n && verdicts.some(differs)) return { kind: 'exceptions' };
  const isUnsent = sums.paidCount === 0n && [...sums.unpaid.keys()].every((state) => unsent.has(state));
  if (isUnsent) return { kind: 'nothing_sent' };
  if (!last || !isUsable(last.list) || last.startedAt < batch.created_at) return { kind: 'not_compared' };
  if (!isUnchanged) return { kind: 'changed_since' };
  if (!verdicts.every(isCompared)) return { kind: 'not_compared' };
  return { kind: verdicts.some(differs) ? 'none_open' : 'reconciled' };
}
