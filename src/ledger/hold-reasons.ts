import { z } from 'zod';
import type { Trx } from '../storage/ledger.ts';

const text = z.string();
const count = z.int().nonnegative();
/** A row of a file, and an earlier payout. */
const match = { row: count, reference: text, batch: text };
/** The number of payouts above a limit, and the first of them; amounts are decimals. */
const large = { count, first: z.array(z.strictObject({ row: count, currency: text, amount: text })) };

/** A currency of which the wallet has too little; decimals. `earlier`: what batches before this one still take. */
const shortfall = z.strictObject({ currency: text, balance: text, needed: text, earlier: text });
/** An account whose holder the service names otherwise; `theirs`: null where it knows no such account. The account is masked. */
const otherName = z.strictObject({
  row: count,
  reference: text,
  account: text,
  ours: text,
  theirs: text.nullable(),
  message: text,
});

const approvalCause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('always') }),
  z.strictObject({
    kind: z.literal('above'),
    totals: z.array(z.strictObject({ currency: text, total: text, limit: text })),
  }),
  /** Something in the batch was added or made ready without an approval that the present rule requires. */
  z.strictObject({ kind: z.literal('unapproved') }),
  /** A person ordered a successor, which is a new order of money (P20). */
  z.strictObject({ kind: z.literal('successor') }),
  /** A row pays a payout again whose batch needs approvals (P20). */
  z.strictObject({ kind: z.literal('original'), ...match }),
]);

const holdReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person') }),
  /** The batch was cancelled while payouts were in flight: those that come back unsent wait (P21). */
  z.strictObject({ kind: z.literal('cancelled') }),
  /** Only an approval lifts it (P2). */
  z.strictObject({ kind: z.literal('approval'), why: approvalCause, dropper: text }),
  /** Approved; its release is in progress, and after a crash the hold must still have a reason. */
  z.strictObject({ kind: z.literal('approved'), by: text }),
  z.strictObject({ kind: z.literal('file_grown'), path: text, bytes: count, line: count }),
  z.strictObject({ kind: z.literal('file_changed'), path: text }),
  /** The file changed before it was archived, and is still where it was dropped. */
  z.strictObject({ kind: z.literal('file_not_archived'), path: text }),
  z.strictObject({ kind: z.literal('file_missing'), path: text }),
  z.strictObject({ kind: z.literal('repeated_row'), row: count, earlier: count, others: count }),
  z.strictObject({ kind: z.literal('alike'), ...match, day: text, others: count }),
  /** A row has the reference of a second payment of `earlier`, without a `retry_of` that says so. */
  z.strictObject({ kind: z.literal('named_again'), ...match, earlier: text, others: count }),
  /** A row pays a payout again whose batch is held (P20). */
  z.strictObject({ kind: z.literal('original_held'), ...match }),
  z.strictObject({ kind: z.literal('payout_limit'), ...large }),
  z.strictObject({ kind: z.literal('daily_limit'), ...large }),
  z.strictObject({ kind: z.literal('balance'), short: z.array(shortfall) }),
  z.strictObject({ kind: z.literal('account_names'), count, first: z.array(otherName) }),
  /** The service's answer to a check before payment cannot be used, so that nothing is known. */
  z.strictObject({
    kind: z.literal('check_unreadable'),
    what: z.enum(['balance', 'account_name']),
    why: text,
  }),
]);

export type HoldReason = z.infer<typeof holdReason>;
export type ApprovalCause = z.infer<typeof approvalCause>;
export type Shortfall = z.infer<typeof shortfall>;
export type OtherName = z.infer<typeof otherName>;
export type LargePayout = z.infer<typeof large.first>[number];

const holdReasons = z.array(holdReason);

/** Parses a batch's hold reasons. Throws where the text is invalid: a hold must not vanish. */
export function readReasons(stored: string): HoldReason[] {
  return holdReasons.parse(JSON.parse(stored));
}

/** Whether a person cancelled this batch while payouts were in flight: then it is never resent automatically. */
export function wasCancelled(stored: string): boolean {
  return readReasons(stored).some(({ kind }) => kind === 'cancelled');
}

/** Replaces the hold reasons of a batch. An empty list lifts the hold of the batch, not of its payouts. */
export async function setHoldReasons(trx: Trx, id: string, reasons: HoldReason[]): Promise<void> {
  await trx
    .updateTable('batches')
    .set((eb) => ({ hold_reasons: JSON.stringify(reasons), version: eb('version', '+', 1n) }))
    .where('id', '=', id)
    .execute();
}
