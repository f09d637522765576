import type { FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import type { Witness } from '../../core/domain/witness.ts';
import { type AttemptMark, attemptedSince } from '../../core/ledger/known.ts';
import { record } from '../../core/ledger/record.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { type SeenBy, seen } from './discrepancies.sql.ts';

/** What a run's list showed of some payouts, and the discrepancies that the run found in it. */
export type Heard = { witnesses: Map<bigint, Witness>; found: FoundDiscrepancy[] };

/**
 * Records what a run's list showed of payouts and the discrepancies in it, in one transaction. Returns how many opened.
 */
export async function recordHeard(
  ledger: Ledger,
  { by, mark }: { by: SeenBy; mark: AttemptMark },
  heard: readonly Heard[],
): Promise<number> {
  const news = heard.filter(({ witnesses, found }) => witnesses.size > 0 || found.length > 0);
  if (news.length === 0) return 0;
  return ledger.write(async (trx) => {
    let opened = 0;
    for (const { witnesses, found } of news) {
      // P4: a list begun before an attempt ended may show that a transfer stands, never that the payout is over.
      const over = [...witnesses].flatMap(([payoutId, witness]) => (stands(witness) ? [] : [payoutId]));
      const moved = await attemptedSince(trx, mark, over);
      const events = [...witnesses].flatMap(([payoutId, witness]) => {
        if (moved.has(payoutId)) return [];
        return [{ payoutId, source: 'listing', event: { kind: 'witness' as const, witness } }];
      });
      await record(trx, by.at, events);
      opened += await seen(trx, by, found);
    }
    return opened;
  });
}

function stands({ status }: Witness): boolean {
  return status === 'pending' || status === 'success';
}
