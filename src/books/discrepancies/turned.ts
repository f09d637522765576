import type { Standpoint } from '../../core/domain/origin.ts';
import { judgeTurn } from '../../core/domain/sure-return.ts';
import type { Witness } from '../../core/domain/witness.ts';
import { attemptedSince } from '../../core/ledger/known.ts';
import { sentElsewhere } from '../../core/ledger/origins.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { record } from '../../core/ledger/record.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Ledger } from '../../core/storage/ledger.ts';
import type { LookedUp } from './questions.ts';
import { firstTurns } from './turned.sql.ts';
import type { Work } from './watch.ts';

type Deps = { ledger: Ledger; standpoint?: Standpoint | undefined; returnHours: number };

/**
 * Records paid payouts that the complete list and the details of this run both show as failed (P36). The first such run
 * is remembered with the payout. A later one that is far enough from it makes the payout `returned`.
 */
export async function concludeTurned(
  { ledger, standpoint, returnHours }: Deps,
  { by, begunAt, mark, listing }: Work,
  turned: ReadonlyMap<bigint, Witness>,
  asked: ReadonlyMap<bigint, LookedUp>,
): Promise<void> {
  // P29: a short cut is no complete list.
  if (listing.complete !== true) return;
  const now = { ours: begunAt, service: listing.cut };
  const both = [...turned].filter(([id]) => asked.get(id)?.status === 'failed');
  for (const some of inParts(both, 500)) {
    await ledger.write(async (trx) => {
      const ids = some.map(([id]) => id);
      const before = await firstTurns(trx, ids);
      // P31: only who it was sent to can say that it came back.
      const elsewhere = standpoint ? await sentElsewhere(trx, ids, standpoint.account) : new Map();
      const moved = await attemptedSince(trx, mark, ids);
      const events = some.flatMap(([payoutId, witness]): RecordEvent[] => {
        if (elsewhere.has(payoutId) || moved.has(payoutId)) return [];
        const first = before.get(payoutId) ?? null;
        const judged = judgeTurn(first, now, returnHours);
        const event = {
          kind: 'turned' as const,
          witness,
          first: judged === 'first' ? by.run : (first?.run ?? by.run),
          sure: judged === 'sure',
        };
        return [{ payoutId, source: `run ${by.run}`, event }];
      });
      await record(trx, by.at, events);
    });
  }
}
