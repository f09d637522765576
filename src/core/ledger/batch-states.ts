import { type BatchState, batchState, type PayoutState } from '../domain/payout.ts';
import type { Db } from '../storage/ledger.ts';

export type BatchStanding = { state: BatchState; counts: Partial<Record<PayoutState, number>> };

/** The state of every batch by its id, from the kept totals: no payout is counted. */
export async function batchStandings(db: Db): Promise<Map<string, BatchStanding>> {
  const rows = await db
    .selectFrom('batches as b')
    .leftJoin('payout_totals as t', 't.batch_id', 'b.id')
    .select(['b.id', 'b.phase', 't.state', 't.n'])
    .orderBy('b.created_at')
    .orderBy('b.id')
    .execute();
  const byBatch = Map.groupBy(rows, ({ id }) => id);
  return new Map(
    [...byBatch].map(([id, own]) => {
      const counts: BatchStanding['counts'] = {};
      for (const { state, n } of own)
        if (state !== null && n) counts[state] = (counts[state] ?? 0) + Number(n);
      return [id, { state: batchState(own[0]?.phase ?? 'loading', counts), counts }];
    }),
  );
}
