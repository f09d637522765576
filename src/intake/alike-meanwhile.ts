import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { batchLikeness, hasLikeness, nearTo } from './likeness.sql.ts';

/**
 * Compares what a release or an approval would let go with what was taken in or came near since its intake (P23). A batch
 * may have waited for weeks, and the same payments may have come in another file meanwhile: the reason to hold it.
 */
export async function alikeMeanwhile(
  trx: Trx,
  { id, created_at }: Pick<Batch, 'id' | 'created_at'>,
  { config, at }: { config: Pick<Config, 'submission'>; at: string },
): Promise<HoldReason | null> {
  if (config.submission.duplicateWindowDays === 0 || !(await hasLikeness(trx, { id }))) return null;
  const intake = nearTo({ config, nowMs: Date.parse(created_at) });
  const found = await batchLikeness(trx, { id, intake }, nearTo({ config, nowMs: Date.parse(at) }), 1);
  const [first] = found.first;
  if (!first) return null;
  const { row, earlierReference: reference, earlierBatch: batch, earlierAt } = first;
  return { kind: 'alike', row, reference, batch, day: earlierAt.slice(0, 10), others: found.count - 1 };
}
