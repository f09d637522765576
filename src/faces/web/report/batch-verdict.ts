import type { BatchSums } from '../../../books/batch-sums.sql.ts';
import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import type { CountedState } from '../../../core/domain/payout.ts';
import { differs, isUsable, type Verdict, worstVerdict } from '../../../core/domain/verdict.ts';

/** What is known of a batch as a whole. Only `reconciled` may look green. */
export type BatchVerdict =
  /**
   * `exceptions`: the last run has them in a currency of it, and discrepancies of it are open. `not_compared`: no run with
   * a usable list has stated this batch.
   */
  | Verdict
  /** A payout of it changed after the last run had stated it. */
  | 'changed_since'
  | 'nothing_sent'
  /** Nothing of it is open, but its currency has exceptions whose causes are not all known. */
  | 'none_open';

/** By the worst verdict on its currencies, where nothing of the batch itself is open. */
const withoutOpen: Record<Verdict, BatchVerdict> = {
  none: 'none',
  reconciled: 'reconciled',
  exceptions: 'none_open',
  not_compared: 'not_compared',
};

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
  if (sums.open > 0n && verdicts.some(differs)) return 'exceptions';
  const isUnsent = sums.paidCount === 0n && [...sums.unpaid.keys()].every((state) => unsent.has(state));
  if (isUnsent) return 'nothing_sent';
  if (!last || !isUsable(last.list) || last.startedAt < batch.created_at) return 'not_compared';
  if (!isUnchanged) return 'changed_since';
  return withoutOpen[worstVerdict(last.list, verdicts)];
}
