import { z } from 'zod';
import { type HoldReason, readReasons, releaseUnderWay } from '../core/ledger/hold-reasons.ts';
import { comparisonOf, type PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { batchLikeness, type Likeness, nearTo } from '../intake/likeness.sql.ts';
import { holdForPerson, noteWaived, unmarkedByPayees } from '../sending/approval-causes.sql.ts';
import { type Approvable, recordApproval } from '../sending/approvals.sql.ts';
import { type Approval, judgeApproval } from '../sending/decisions/whole-batch.ts';
import { finishRelease } from '../sending/holds.sql.ts';
import type { Released } from '../sending/released.ts';
import { waitingRows } from '../sending/row-approvals.sql.ts';
import { lookAgain } from './look-again.ts';
import { livingFor, type Refused, refusedFor } from './obstacles.ts';
import { type Person, verb } from './verb.ts';

type Parts = {
  ledger: Ledger;
  clock: Pick<Clock, 'iso'>;
  config: Pick<Config, 'submission' | 'intake' | 'reports'>;
};

/** What a person would approve. `already`: somebody did. */
type ApprovalReview =
  | { kind: 'may'; batch: Batch; shown: Approvable }
  | { kind: 'already'; batch: Batch; before: Approval };

/** `others`: the reasons that still hold the batch; `released`: what may go now, null where they keep all of it. */
export type ApprovalOutcome = {
  kind: 'approved' | 'already';
  batch: string;
  approval: Approval;
  others: readonly HoldReason[];
  released: Released | null;
};

/** A second person's approval, bound to the digest of the frozen bodies that were shown (P2). */
export const approveVerb = verb({
  name: 'approve',
  can: 'approve',
  touchesMoney: true,
  /** `digest`: what the person saw; the batch must still be that. */
  input: z.strictObject({ batch: z.string(), digest: z.string() }),
  async run(parts: Parts, { batch, digest }, person): Promise<ApprovalOutcome | Refused> {
    const review = await reviewApproval(parts, batch, person);
    if (review.kind === 'may' && review.shown.digest !== digest)
      return refusedFor({ kind: 'changed', id: batch });
    return review.kind === 'refused' ? review : approveReviewed(parts, review, person);
  },
});

/** Judges whether the person may approve the batch. Reads every body of it. */
export async function reviewApproval(
  { ledger, config }: Omit<Parts, 'clock'>,
  id: string,
  { accounts: acting }: Person,
): Promise<ApprovalReview | Refused> {
  const found = await livingFor(ledger.db, id);
  if (found.kind === 'refused') return found;
  const { batch } = found;
  const judged = await judgeApproval(ledger.db, { batch, rule: config.submission, acting });
  switch (judged.kind) {
    case 'may':
      return { ...judged, batch };
    case 'approved':
      return { kind: 'already', batch, before: judged.before };
    case 'needless':
      return refusedFor({ kind: 'needless', batch: id, reasons: judged.reasons });
    case 'own':
      return refusedFor({ kind: 'own', batch: id, maker: judged.maker });
    case 'unsound':
      return refusedFor({ kind: 'unsound', batch: id });
  }
}

/** Approves what was reviewed. Anybody may finish an approval that was cut off before every payout was released. */
export async function approveReviewed(
  parts: Parts,
  review: ApprovalReview,
  person: Person,
): Promise<ApprovalOutcome | Refused> {
  const { ledger, clock } = parts;
  const { batch } = review;
  if (review.kind === 'already') {
    const wasCut = releaseUnderWay(readReasons(batch.hold_reasons)) !== undefined;
    const released = wasCut ? await letGo(parts, batch.id, person) : null;
    return {
      kind: 'already',
      batch: batch.id,
      approval: review.before,
      others: wasCut ? [] : othersOf(batch),
      released,
    };
  }
  const { shown } = review;
  const approval = { by: person.name, at: clock.iso(), digest: shown.digest };
  const { at } = approval;
  const isServer = person.isServer === true;
  const look = lookAgain(batch, { config: parts.config, at });
  const rule = parts.config.submission;
  const done = await ledger.write(async (trx) => {
    if (isServer) await holdForPerson(trx, rule, batch);
    const isUnseen = !isServer && (await unmarkedByPayees(trx, rule, [batch.id])).size > 0;
    const recorded = await recordApproval(trx, { batch, shown, isServer, isUnseen, ...approval, look });
    if (recorded.kind === 'approved' && isUnseen) await noteWaived(trx, rule, batch.id);
    return recorded;
  });
  if (done.kind === 'already') {
    const now = await reviewApproval(parts, batch.id, person);
    if (now.kind === 'already') return approveReviewed(parts, now, person);
  }
  if (done.kind !== 'approved') return refusedFor({ kind: 'changed', id: batch.id });
  const { others } = done;
  const released = others.length > 0 ? null : await letGo(parts, batch.id, person);
  return { kind: 'approved', batch: batch.id, approval, others, released };
}

function letGo({ ledger, clock, config }: Parts, batch: string, { noted: by }: Person): Promise<Released> {
  const { dailyLimit } = config.submission;
  return finishRelease(ledger, { batch, at: clock.iso(), dailyLimit, by });
}

/** What a person should know before approving: other holds, likeness to earlier payouts, odd account numbers. */
export type ApprovalWarnings = {
  batch: string;
  others: HoldReason[];
  alike: { count: number; first: Likeness[] };
  oddAccounts: Approvable['oddAccounts'];
  /** What the approval covers of its payees (P37). Account numbers are whole. */
  compared: PayeeComparison | null;
  /** What waits for it, where the rest of the batch goes without it; else null. */
  waiting: Awaited<ReturnType<typeof waitingRows>>;
};

export async function approvalWarnings(
  { ledger: { db }, clock, config }: Parts,
  { batch, shown }: Extract<ApprovalReview, { kind: 'may' }>,
): Promise<ApprovalWarnings> {
  const { id } = batch;
  const near = nearTo({ config, nowMs: Date.parse(clock.iso()) });
  const isOn = config.submission.duplicateWindowDays > 0;
  const alike = isOn ? await batchLikeness(db, { id }, near, 1) : { count: 0, first: [] };
  const compared = await comparisonOf(db, id);
  const waiting = await waitingRows(db, id);
  return { batch: id, others: othersOf(batch), alike, oddAccounts: shown.oddAccounts, compared, waiting };
}

/** Why the batch is held, besides the missing approval. */
function othersOf({ hold_reasons }: Batch): HoldReason[] {
  return readReasons(hold_reasons).filter(({ kind }) => kind !== 'approval');
}
