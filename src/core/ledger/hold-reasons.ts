import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Db, Trx } from '../storage/ledger.ts';

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

/** `successors`: it holds only the successors that were ordered with it; the rest of the batch goes on. */
const scope = { scope: z.literal('successors').optional() };
/** `rows`: it holds only the rows that are marked to need an approval (P37); the rest of the batch goes on. */
const anyScope = z.enum(['successors', 'rows']);

const approvalCause = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal(['always', 'callback']) }),
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
  /** Payees changed, or were never paid, or their amounts are a hundred times those of before (P37). `rows`: the first. */
  z.strictObject({
    kind: z.literal('payees'),
    changed: count,
    fresh: count,
    hundredfold: count,
    inflated: z.array(text),
    rows: z.array(count),
  }),
]);

/** `mark`: the version of the batch. It tells a reason that was found again from an earlier one that a release has seen. */
const marked = { mark: count.optional() };

const holdReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('person'), ...marked }),
  /** The batch was cancelled while payouts were in flight: those that come back unsent wait (P21). */
  /** With a scope: only what waited for an approval was rejected, and some of it is not cancelled yet. */
  z.strictObject({ kind: z.literal('cancelled'), ...marked, scope: anyScope.optional() }),
  /** Only an approval lifts it (P2). `above`: what a release let go meanwhile above `submission.payout_limit`. */
  z.strictObject({
    kind: z.literal('approval'),
    ...marked,
    why: approvalCause,
    dropper: text,
    scope: anyScope.optional(),
    above: z.strictObject(large).optional(),
  }),
  /**
   * A release or an approval was decided, and its payouts become `ready` in chunks. Any other reason ends it. `by`: an
   * empty text where no name is known. `mark`: the version of the batch at the decision.
   */
  z.strictObject({ kind: z.literal('releasing'), by: text, mark: count }),
  z.strictObject({ kind: z.literal('file_grown'), ...marked, path: text, bytes: count, line: count }),
  z.strictObject({ kind: z.literal('file_changed'), ...marked, path: text }),
  /** The file changed before it was archived, and is still where it was dropped. */
  z.strictObject({ kind: z.literal('file_not_archived'), ...marked, path: text }),
  z.strictObject({ kind: z.literal('file_missing'), ...marked, path: text }),
  z.strictObject({ kind: z.literal('repeated_row'), ...marked, row: count, earlier: count, others: count }),
  z.strictObject({ kind: z.literal('alike'), ...marked, ...match, day: text, others: count, ...scope }),
  /** A row has the reference of a second payment of `earlier`, without a `retry_of` that says so. */
  z.strictObject({ kind: z.literal('named_again'), ...marked, ...match, earlier: text, others: count }),
  /** A row has a value in a column of `intake.unique_columns` that an earlier row or payout has. */
  z.strictObject({
    kind: z.literal('value_again'),
    ...marked,
    row: count,
    column: text,
    value: text,
    before: z.union([
      z.strictObject({ row: count }),
      z.strictObject({ reference: text, batch: text, day: text }),
    ]),
    others: count,
    ...scope,
  }),
  /** A row pays a payout again whose batch is held (P20). */
  z.strictObject({ kind: z.literal('original_held'), ...marked, ...match }),
  z.strictObject({ kind: z.literal('payout_limit'), ...marked, ...large, ...scope }),
  z.strictObject({ kind: z.literal('daily_limit'), ...marked, ...large }),
  z.strictObject({ kind: z.literal('balance'), ...marked, short: z.array(shortfall) }),
  z.strictObject({ kind: z.literal('account_names'), ...marked, count, first: z.array(otherName) }),
  /** The service's answer to a check before payment cannot be used, so that nothing is known. */
  z.strictObject({
    kind: z.literal('check_unreadable'),
    ...marked,
    what: z.enum(['balance', 'account_name']),
    why: text,
  }),
]);

export type HoldReason = z.infer<typeof holdReason>;
export type HoldScope = z.infer<typeof anyScope>;
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

/** A short text that tells this reason of its batch from every other, repeated ones too: for a form that shows it. */
export function reasonMark(reason: HoldReason): string {
  return createHash('sha256').update(JSON.stringify(reason)).digest('hex').slice(0, 16);
}

/** The release in progress, if there is one. Then no other reason holds the whole batch. */
export function releaseUnderWay(reasons: readonly HoldReason[]): Releasing | undefined {
  return reasons.find((reason) => reason.kind === 'releasing');
}

export type Releasing = Extract<HoldReason, { kind: 'releasing' }>;

/** True where these reasons of its batch hold a payout, and its release is not just under way. */
export function areHolding(
  reasons: readonly HoldReason[],
  { approval_needed }: { approval_needed: bigint },
): boolean {
  return reasons.some((one) => one.kind !== 'releasing' && (!isOfRows(one) || approval_needed === 1n));
}

/** True for a reason that holds only rows which are marked to need an approval. */
export function isOfRows(reason: HoldReason): boolean {
  return 'scope' in reason && reason.scope === 'rows';
}

/** True for a reason that holds only the successors that were ordered with it. */
export function isOfSuccessors(reason: HoldReason): boolean {
  return 'scope' in reason && reason.scope === 'successors';
}

/** True for a reason that lets marked rows go only with an approval. */
export function asksForRows(reason: HoldReason): boolean {
  return reason.kind === 'approval' && isOfRows(reason);
}

/** True for a reason that a person's no ends: an approval that waits, or a rejection of some payouts that was cut off. */
export function isRejectable(reason: HoldReason): reason is Rejectable {
  return reason.kind === 'approval' || (reason.kind === 'cancelled' && reason.scope !== undefined);
}

type Rejectable = Extract<HoldReason, { kind: 'approval' | 'cancelled' }>;

/** True where a reason holds the whole batch, and is no release in progress. */
export function areHoldingAll(reasons: readonly HoldReason[]): boolean {
  return reasons.some((reason) => reason.kind !== 'releasing' && holdsAll(reason));
}

function holdsAll(reason: HoldReason): boolean {
  return !('scope' in reason && reason.scope !== undefined);
}

/** The reason for all of its batch, where it held only successors. */
function holdingAll(reason: HoldReason): HoldReason {
  return 'scope' in reason && reason.scope === 'successors' ? { ...reason, scope: undefined } : reason;
}

/** Notes what is let go above a limit in the approvals that stay: these do not ask about it once more. */
export function notingAbove(before: readonly HoldReason[], stays: readonly HoldReason[]): HoldReason[] {
  const large = before.find(({ kind }) => kind === 'payout_limit');
  if (large?.kind !== 'payout_limit' || stays.some((one) => isSameReason(one, large))) return [...stays];
  const above = { count: large.count, first: large.first };
  return stays.map((one) => (one.kind === 'approval' ? { ...one, above } : one));
}

/** What a person has seen who lifts these reasons: each as one for all of the batch. */
export function seenIn(reasons: readonly HoldReason[]): HoldReason[] {
  return reasons.flatMap((one): HoldReason[] => {
    const above = one.kind === 'approval' && one.above;
    return above ? [{ kind: 'payout_limit', ...above }] : [holdingAll(one)];
  });
}

/** The columns that keep the hold reasons. `held` is what claims check in the transaction of the intent (P2, P21). */
export function reasonColumns(reasons: readonly HoldReason[]): { hold_reasons: string; held: bigint } {
  return { hold_reasons: JSON.stringify(reasons), held: reasons.some(holdsAll) ? 1n : 0n };
}

/** Returns the hold reasons of a batch, and its version, which grows with each change of them. */
export async function holdReasonsOf(
  db: Db | Trx,
  id: string,
): Promise<{ reasons: HoldReason[]; version: bigint }> {
  const row = await db
    .selectFrom('batches')
    .select(['hold_reasons', 'version'])
    .where('id', '=', id)
    .executeTakeFirst();
  return { reasons: readReasons(row?.hold_reasons ?? '[]'), version: row?.version ?? 0n };
}

/**
 * Adds a reason. It ends a release in progress (P21). One that is found again gets a new mark in its place, so that a
 * release which saw the earlier one does not lift it. `before`: the reason whose place it takes.
 */
export async function addHoldReason(
  trx: Trx,
  id: string,
  added: HoldReason,
  before?: HoldReason,
): Promise<void> {
  const { reasons, version } = await holdReasonsOf(trx, id);
  const others = reasons.filter(({ kind }) => kind !== 'releasing');
  // Payouts of an interrupted release are still held: the new reason must hold them too.
  const held = others.length < reasons.length ? holdingAll(added) : added;
  const reason: HoldReason = { ...held, mark: Number(version) };
  const at = others.findIndex((one) => isSameReason(one, before ?? reason));
  const now = at < 0 ? [...others, reason] : others.with(at, reason);
  await setHoldReasons(
    trx,
    id,
    now.filter((one) => one === reason || !isSameReason(one, reason)),
  );
}

/** Whether two reasons say the same, whatever their marks. */
export function isSameReason(one: HoldReason, other: HoldReason): boolean {
  return isDeepStrictEqual(unmarked(one), unmarked(other));
}

/** The reason as it is stored, without its mark and without what a release let go. */
function unmarked(reason: HoldReason): unknown {
  return JSON.parse(JSON.stringify({ ...reason, mark: undefined, above: undefined }));
}

/** Replaces the hold reasons of a batch. An empty list lifts the hold of the batch, not of its payouts. */
export async function setHoldReasons(trx: Trx, id: string, reasons: readonly HoldReason[]): Promise<void> {
  await trx
    .updateTable('batches')
    .set((eb) => ({ ...reasonColumns(reasons), version: eb('version', '+', 1n) }))
    .where('id', '=', id)
    .execute();
}
