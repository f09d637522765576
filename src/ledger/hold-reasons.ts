import type { Trx } from '../storage/ledger.ts';

export const cancelledMeanwhile =
  'cancelled by a person while some were on their way: what comes back unsent waits here; counterfoil cancel ends it';

/** True for a batch that a person cancelled, of which something may yet come back: it is never resent by itself. */
export function wasCancelled(holdReasons: string): boolean {
  return readReasons(holdReasons).includes(cancelledMeanwhile);
}

/** Why a batch is held, from the column's JSON text. */
export function readReasons(text: string): string[] {
  const parsed: unknown = JSON.parse(text);
  return Array.isArray(parsed) ? parsed.filter((reason) => typeof reason === 'string') : [];
}

/** Replaces the reasons for which a batch is held; an empty list lifts the hold of the batch, not of its payouts. */
export async function setHoldReasons(trx: Trx, id: string, reasons: string[]): Promise<void> {
  await trx
    .updateTable('batches')
    .set((eb) => ({ hold_reasons: JSON.stringify(reasons), version: eb('version', '+', 1n) }))
    .where('id', '=', id)
    .execute();
}
