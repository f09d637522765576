import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { laterLikes } from './later-likes.sql.ts';
import { batchLikeness, hasLikeness, type Likeness, nearTo } from './likeness.sql.ts';

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
  return first ? alikeReason(first, found.count) : null;
}

function alikeReason({ row, earlierReference, earlierBatch, earlierAt }: Likeness, count: number) {
  const day = earlierAt.slice(0, 10);
  const said = { row, reference: earlierReference, batch: earlierBatch, day, others: count - 1 };
  return { kind: 'alike' as const, ...said };
}

/**
 * Why payouts that a person pays again now wait in their batches, by batch: the same payment came in another file since
 * (P20, P23). The reason holds only what is paid again.
 */
export async function alikeSince(
  trx: Trx,
  ids: readonly bigint[],
  { config, at }: { config: Pick<Config, 'submission'>; at: string },
): Promise<Map<string, HoldReason>> {
  if (config.submission.duplicateWindowDays === 0) return new Map();
  const found = await laterLikes(trx, ids, nearTo({ config, nowMs: Date.parse(at) })(''));
  const reasons = new Map<string, HoldReason>();
  for (const [batch, own] of Map.groupBy(found, (one) => one.batch)) {
    const [first] = own;
    const rows = new Set(own.map(({ row }) => row));
    if (first) reasons.set(batch, { ...alikeReason(first, rows.size), scope: 'successors' });
  }
  return reasons;
}
