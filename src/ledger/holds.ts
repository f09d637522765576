import type { Mode } from '../domain/payout.ts';
import { setHoldReasons } from './batches.ts';
import type { Ledger } from './open.ts';
import { record } from './record.ts';

const chunk = 1000;

/**
 * Moves a batch's unsent payouts to `held`, or its held ones back to `ready`, in chunks; each is a compare-and-set, so
 * what is already on its way is left alone (P21). Returns how many moved.
 */
export async function setHeld(
  ledger: Ledger,
  request: { mode: Mode; batch: string; held: boolean; reason: string; at: string },
): Promise<number> {
  const { mode, batch, held, reason, at } = request;
  await ledger.write((trx) => setHoldReasons(trx, batch, held ? [reason] : []));
  let moved = 0;
  for (;;) {
    const done = await ledger.write(async (trx) => {
      const rows = await trx
        .selectFrom('payouts')
        .select('id')
        .where('mode', '=', mode)
        .where('batch_id', '=', batch)
        .where('state', '=', held ? 'ready' : 'held')
        .limit(chunk)
        .execute();
      const event = held ? { kind: 'hold' as const, why: reason } : { kind: 'release' as const };
      await record(
        trx,
        at,
        rows.map((row) => ({ payoutId: row.id, source: 'person', event })),
      );
      return rows.length;
    });
    moved += done;
    if (done < chunk) return moved;
  }
}
