import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { alikeMeanwhile } from '../intake/alike-meanwhile.ts';
import { aboveLimit } from '../sending/limits.sql.ts';

/**
 * Looks, in the transaction that lets a batch go, for reasons to hold it that its intake could not find: a limit of a payout
 * that was set since, and what came since in other files (P23).
 */
export function lookAgain(
  batch: Pick<Batch, 'id' | 'created_at'>,
  { config, at }: { config: Pick<Config, 'submission' | 'intake' | 'reports'>; at: string },
): (trx: Trx) => Promise<HoldReason[]> {
  return async (trx) => {
    const above = await aboveLimit(trx, batch.id, { written: config.submission.payoutLimit });
    return [...above, ...(await alikeMeanwhile(trx, batch, { config, at }))];
  };
}
