import type { Trx } from '../storage/ledger.ts';

export const cancelledMeanwhile =
  'cancelled by a person while some were on their way: what comes back unsent waits here; counterfoil cancel ends it';

/**
 * Whether a person cancelled this batch while payouts were in flight: then it is never resent automatically.
 */
export function wasCancelled(holdReasons: string): boolean {
  return readReasons(holdReasons).includes(cancelledMeanwhile);
}

/** Parses the hold reasons of a batch from the column's JSON text. */
export function readReasons(text: string): string[] {
  const parsed: unknown = JSON.parse(text);
  return Array.isArray(parsed) ? parsed.filter((reason) => typeof reason === 'string') : [];
}

/** Replaces the hold reasons of a batch. An empty list lifts the hold of the batch, not of its payouts. */
export async function setHoldReasons(trx: Trx, id: string, reasons: string[]): Promise<void> {
  await trx
    .updateTable('batches')
    .set((eb) => ({ hold_reasons: JSON.stringify(reasons), version: eb('version', '+', 1n) }))
    .where('id', '=', id)
    .execute();
}
