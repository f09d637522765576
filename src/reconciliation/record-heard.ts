import type { Found } from '../domain/discrepancy.ts';
import type { Witness } from '../domain/transition.ts';
import { type SeenBy, seen } from '../ledger/discrepancies.ts';
import { type AttemptMark, attemptedSince } from '../ledger/expected.ts';
import type { Ledger } from '../ledger/open.ts';
import { record } from '../ledger/record.ts';

/** Records what a run's list told of payouts, with the discrepancies it found, as one. Returns how many were opened. */
export async function recordHeard(
  ledger: Ledger,
  { by, mark }: { by: SeenBy; mark: AttemptMark },
  { witnesses, found }: { witnesses: Map<bigint, Witness>; found: Found[] },
): Promise<number> {
  if (witnesses.size === 0 && found.length === 0) return 0;
  return ledger.write(async (trx) => {
    // P4: a list begun before an attempt ended may show that a transfer stands, never that the payout is over.
    const moved = await attemptedSince(trx, mark, [...witnesses.keys()]);
    const events = [...witnesses].flatMap(([payoutId, witness]) => {
      const stands = witness.status === 'pending' || witness.status === 'success';
      if (moved.has(payoutId) && !stands) return [];
      return [{ payoutId, source: 'listing', event: { kind: 'witness' as const, witness } }];
    });
    await record(trx, by.at, events);
    return seen(trx, by, found);
  });
}
