import { type RawBuilder, sql } from 'kysely';
import {
  type HoldReason,
  type HoldScope,
  holdReasonsOf,
  setHoldReasons,
} from '../core/ledger/hold-reasons.ts';
import { hasRow } from '../core/storage/counting.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { sentBefore } from './ready.sql.ts';

/** True for a payout, ready or held, that a reason of this scope keeps back. */
export const waitsFor: Record<HoldScope, RawBuilder<boolean>> = {
  rows: sql`(approval_needed = 1)`,
  successors: sql`(state = 'held' and ${sentBefore})`,
};

/** The reasons that hold only some payouts of a batch, of which none waits any more. */
export async function reasonsOver(
  db: Db | Trx,
  batch: string,
  reasons: readonly HoldReason[],
): Promise<HoldReason[]> {
  const over: HoldReason[] = [];
  for (const [scope, own] of Map.groupBy(reasons, (one) => ('scope' in one ? one.scope : undefined))) {
    if (scope === undefined) continue;
    const held = db.selectFrom('payouts').where('batch_id', '=', batch).where('state', '=', 'held');
    if (!(await hasRow(held.where(waitsFor[scope])))) over.push(...own);
  }
  return over;
}

/** Removes such reasons. They would hold what is ordered later, and name what has ended. */
export async function endReasonsOver(trx: Trx, batch: string): Promise<void> {
  const { reasons } = await holdReasonsOf(trx, batch);
  const over = new Set(await reasonsOver(trx, batch, reasons));
  if (over.size > 0)
    await setHoldReasons(
      trx,
      batch,
      reasons.filter((one) => !over.has(one)),
    );
}
