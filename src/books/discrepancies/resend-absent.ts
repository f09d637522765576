import { automaticSource } from '../../core/domain/history-event.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { record } from '../../core/ledger/record.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import { paidSince } from '../../intake/alike-meanwhile.ts';
import { judgeAbsence } from '../../watching/evidence/absence.ts';
import { absenceCases, type RunListing } from '../../watching/evidence/absence-facts.sql.ts';

/**
 * P16: orders each of these payouts once more when its absence is confirmed, under its own reference and never a second
 * time. Facts and order share one transaction, so that whatever was heard meanwhile counts. What another file may have paid
 * since stays unknown, for a person (P23). Returns how many.
 */
export async function resendAbsent(
  ledger: Ledger,
  payoutIds: readonly bigint[],
  about: {
    run: string;
    at: string;
    listing: RunListing;
    quietPeriodMs: number;
    account: ServiceAccount | null;
    config: Pick<Config, 'submission' | 'intake' | 'reports'>;
  },
): Promise<number> {
  if (payoutIds.length === 0) return 0;
  return ledger.write(async (trx) => {
    // P25: a ledger that went back in time may have forgotten that it ordered this already.
    if (await findBarrier(trx)) return 0;
    const events: RecordEvent[] = [];
    for (const { payoutId, held, cancelled, facts } of await absenceCases(trx, payoutIds, about)) {
      // P21: it stays unknown, so that a person may still say that it was not paid.
      if (cancelled) continue;
      const verdict = judgeAbsence(facts);
      if (verdict.kind !== 'absent') continue;
      events.push({
        payoutId,
        source: automaticSource,
        event: {
          kind: 'retry',
          to: held ? 'held' : 'ready',
          automatic: true,
          why: `${verdict.why} (run ${about.run})`,
        },
      });
    }
    const ordered = events.map(({ payoutId }) => payoutId);
    const paid = ordered.length > 0 ? await paidSince(trx, ordered, about) : new Set<bigint>();
    const unpaid = events.filter(({ payoutId }) => !paid.has(payoutId));
    const told = await record(trx, about.at, unpaid);
    return told.filter(({ effect }) => effect.kind === 'move').length;
  });
}
