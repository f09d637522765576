import type { WitnessStatus } from '../../core/domain/payout.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { LookUpOutcome } from '../../core/storage/tables/said-columns.ts';

/** The last answered details look-up of a payout; `said` is the status that it found. */
export type LastLookUp = {
  askedAt: string;
  answeredAt: string;
  outcome: LookUpOutcome;
  said: WitnessStatus | null;
};

/**
 * Returns the last answered details look-up of each payout, by payout id. The history gives their order: a clock may be set
 * back, and a look-up gets its id before its answer.
 */
export async function lastLookUps(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, LastLookUp>> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['payout_id', 'asked_at', 'answered_at', 'outcome', 'said'])
    .where('kind', '=', 'details')
    .where('payout_id', 'in', idList(ids))
    .where('asked_at', 'is not', null)
    .where('outcome', 'is not', null)
    .orderBy('history_seq')
    .orderBy('id')
    .execute();
  return new Map(
    rows.flatMap(({ payout_id, asked_at, answered_at, outcome, said }) => {
      if (asked_at === null || outcome === null) return [];
      return [
        [payout_id, { askedAt: asked_at, answeredAt: answered_at ?? asked_at, outcome, said }] as const,
      ];
    }),
  );
}
