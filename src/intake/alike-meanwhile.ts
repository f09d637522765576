import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { laterLikes } from './later-likes.sql.ts';
import { alikeReason, batchLikeness, hasLikeness, nearTo } from './likeness.sql.ts';
import { valueAgainReason } from './values-again.sql.ts';
import { valuesMeanwhile, valuesSince } from './values-since.sql.ts';

type Looking = { config: Pick<Config, 'submission' | 'intake' | 'reports'>; at: string };

/**
 * Compares what a release or an approval would let go with what came since its intake (P23): the reasons to hold it. A
 * batch may have waited for weeks, and the same payments or invoices may have come in another file.
 */
export async function alikeMeanwhile(
  trx: Trx,
  batch: Pick<Batch, 'id' | 'created_at'>,
  { config, at }: Looking,
): Promise<HoldReason[]> {
  const { first, count } = await valuesMeanwhile(trx, batch, config);
  return [...(await likenessMeanwhile(trx, batch, { config, at })), ...valueAgainReason(first, count)];
}

async function likenessMeanwhile(
  trx: Trx,
  { id, created_at }: Pick<Batch, 'id' | 'created_at'>,
  { config, at }: Looking,
): Promise<HoldReason[]> {
  if (config.submission.duplicateWindowDays === 0 || !(await hasLikeness(trx, { id }))) return [];
  const intake = nearTo({ config, nowMs: Date.parse(created_at) });
  const found = await batchLikeness(trx, { id, intake }, nearTo({ config, nowMs: Date.parse(at) }), 1);
  return alikeReason(found.first[0], found.count, config.reports.timezone);
}

/**
 * Why payouts that a person pays again now wait in their batches, by batch: another file may have paid the same since (P20,
 * P23). The reasons hold only what is paid again.
 */
export async function alikeSince(
  trx: Trx,
  ids: readonly bigint[],
  looking: Looking,
): Promise<Map<string, HoldReason[]>> {
  const { likes, values } = await lookSince(trx, ids, looking);
  const reasons = new Map<string, HoldReason[]>();
  const add = (batch: string, reason: HoldReason): void => {
    reasons.set(batch, [...(reasons.get(batch) ?? []), reason]);
  };
  const scope = 'successors' as const;
  for (const [batch, own] of Map.groupBy(likes, (one) => one.batch)) {
    const rows = new Set(own.map(({ row }) => row));
    for (const reason of alikeReason(own[0], rows.size, looking.config.reports.timezone))
      add(batch, { ...reason, scope });
  }
  for (const [batch, own] of Map.groupBy(values, (one) => one.batch)) {
    const count = new Set(own.map(({ row, column }) => `${row} ${column}`)).size;
    for (const reason of valueAgainReason(own[0], count)) add(batch, { ...reason, scope });
  }
  return reasons;
}

/** Those of these payouts that another file may have paid since they were last sent. */
export async function paidSince(trx: Trx, ids: readonly bigint[], looking: Looking): Promise<Set<bigint>> {
  const { likes, values } = await lookSince(trx, ids, looking);
  return new Set([...likes, ...values].map(({ id }) => id));
}

async function lookSince(trx: Trx, ids: readonly bigint[], { config, at }: Looking) {
  const isOn = config.submission.duplicateWindowDays > 0;
  const likes = isOn ? await laterLikes(trx, ids, nearTo({ config, nowMs: Date.parse(at) })('')) : [];
  return { likes, values: await valuesSince(trx, ids, config) };
}
