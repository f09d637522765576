import { z } from 'zod';
import type { Trx } from '../storage/ledger.ts';

const text = z.string();
const count = z.int().nonnegative();
/** A row of a file, and a payout that was taken in before. */
const match = { row: count, reference: text, batch: text };
/** How many payouts are above a limit, and the first of them; amounts are decimals. */
const large = { count, first: z.array(z.strictObject({ row: count, currency: text, amount: text })) };

const approvalCause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('always') }),
  z.strictObject({
    kind: z.literal('above'),
    totals: z.array(z.strictObject({ currency: text, total: text, limit: text })),
  }),
  /** Something in the batch was added or made ready without an approval that today's rule asks for. */
  z.strictObject({ kind: z.literal('unapproved') }),
  /** A person ordered a successor, which is a new order of money (P20). */
  z.strictObject({ kind: z.literal('successor') }),
  /** A row pays a payout again whose batch needs approvals (P20). */
  z.strictObject({ kind: z.literal('original'), ...match }),
]);

const holdReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person') }),
  /** The batch was cancelled while some of it was on its way: what comes back unsent waits (P21). */
  z.strictObject({ kind: z.literal('cancelled') }),
  /** Only an approval lifts it (P2). */
  z.strictObject({ kind: z.literal('approval'), why: approvalCause, dropper: text }),
  /** Approved, and being let go: after a crash nothing is held without a reason. */
  z.strictObject({ kind: z.literal('approved'), by: text }),
  z.strictObject({ kind: z.literal('file_grown'), path: text, bytes: count, line: count }),
  z.strictObject({ kind: z.literal('file_changed'), path: text }),
  /** The file changed before it was archived, and lies where it was dropped. */
  z.strictObject({ kind: z.literal('file_not_archived'), path: text }),
  z.strictObject({ kind: z.literal('file_missing'), path: text }),
  z.strictObject({ kind: z.literal('repeated_row'), row: count, earlier: count, others: count }),
  z.strictObject({ kind: z.literal('alike'), ...match, day: text, others: count }),
  /** A row has the reference of a second payment of `earlier`, but does not say that it is one. */
  z.strictObject({ kind: z.literal('named_again'), ...match, earlier: text, others: count }),
  /** A row pays a payout again whose batch is held (P20). */
  z.strictObject({ kind: z.literal('original_held'), ...match }),
  z.strictObject({ kind: z.literal('payout_limit'), ...large }),
  z.strictObject({ kind: z.literal('daily_limit'), ...large }),
]);

/** Why a batch is held. */
export type HoldReason = z.infer<typeof holdReason>;
/** Why a batch needs an approval. */
export type ApprovalCause = z.infer<typeof approvalCause>;
/** The first payouts above a limit. */
export type LargePayout = z.infer<typeof large.first>[number];

const holdReasons = z.array(holdReason);

/** Why a batch is held, from the column's JSON text. Throws where the text is none: a hold must not vanish unread. */
export function readReasons(stored: string): HoldReason[] {
  return holdReasons.parse(JSON.parse(stored));
}

/** True for a batch that a person cancelled, of which something may yet come back: it is never resent by itself. */
export function wasCancelled(stored: string): boolean {
  return readReasons(stored).some(({ kind }) => kind === 'cancelled');
}

/** Replaces the reasons for which a batch is held; an empty list lifts the hold of the batch, not of its payouts. */
export async function setHoldReasons(trx: Trx, id: string, reasons: HoldReason[]): Promise<void> {
  await trx
    .updateTable('batches')
    .set((eb) => ({ hold_reasons: JSON.stringify(reasons), version: eb('version', '+', 1n) }))
    .where('id', '=', id)
    .execute();
}
