import { type BatchCounts, batchCounts } from '../../core/ledger/batches.ts';
import { type HoldReason, readReasons } from '../../core/ledger/hold-reasons.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import type { Batch } from '../../core/storage/tables/tables.ts';
import { isAmong, isByServer, isForPerson, type Maker, type OsUser } from '../approval.ts';
import { type ApprovalRule, causesNow, unmarkedByPayees } from '../approval-causes.sql.ts';
import { type Approvable, approvalsOf, batchTotals, readApprovable } from '../approvals.sql.ts';
import { liftCanary } from '../halts.sql.ts';
import { type ReleaseOrder, releaseBatch } from '../holds.sql.ts';
import { makersOf } from '../makers.sql.ts';
import { checkStanding } from '../precheck.sql.ts';

export type Approval = { by: string; at: string; digest: string };

/**
 * Whether a person may approve a batch (P2). `needless`: no rule asks for it. `approved`: somebody did. `own`: one of
 * the person's accounts dropped it. `unsound`: the ledger's payouts are not those that were taken in.
 */
export type ApprovalJudgement =
  | { kind: 'needless'; reasons: HoldReason[] }
  | { kind: 'approved'; before: Approval }
  | { kind: 'own'; maker: Maker }
  | { kind: 'unsound' }
  | { kind: 'may'; shown: Approvable };

/** `acting`: all accounts of the person. Reads every body of the batch. */
export async function judgeApproval(
  db: Db,
  about: { batch: Batch; rule: ApprovalRule; acting: readonly OsUser[] },
): Promise<ApprovalJudgement> {
  const { batch, rule, acting } = about;
  const reasons = readReasons(batch.hold_reasons);
  const now = { id: batch.id, totals: await batchTotals(db, batch.id) };
  const asked = reasons.flatMap((one) => (one.kind === 'approval' ? [one.why] : []));
  asked.push(...(await causesNow(db, rule, now)));
  const isNeeded = batch.approval_needed === 1n || asked.length > 0;
  const approvals = (await approvalsOf(db, [batch.id])).get(batch.id) ?? [];
  if (!isNeeded && approvals.length === 0) return { kind: 'needless', reasons };
  const shown = await readApprovable(db, batch);
  const isPersonDue = asked.some(isForPerson);
  const isUnseen = (await unmarkedByPayees(db, rule, [batch.id])).size > 0;
  const before = approvals.find(
    (one) => one.throughId >= shown.throughId && !isUnseen && !(isPersonDue && isByServer(one)),
  );
  if (before) return { kind: 'approved', before };
  if (!isNeeded) return { kind: 'needless', reasons };
  const maker = (await makersOf(db, [batch.id])).get(batch.id)?.find((one) => isAmong(one, acting));
  if (maker) return { kind: 'own', maker };
  return shown.sound ? { kind: 'may', shown } : { kind: 'unsound' };
}

/** True for a batch of which nothing is ever sent: it can be neither released nor approved. */
export async function isCancelled(db: Db, batch: string): Promise<boolean> {
  const [now]: BatchCounts[] = await batchCounts(db, [batch]);
  return now?.state === 'cancelled';
}

/**
 * A person's release of a batch, with the rest of a failed canary. `unanswered`: why the service had not answered what is
 * asked before payment, where the batch now goes on without (P32).
 */
export async function releaseWhole(
  ledger: Ledger,
  order: ReleaseOrder & {
    /** What the person saw: the reasons of the batch, and the marks of the halts. Nothing else is lifted. */
    seen: readonly HoldReason[];
    halts: readonly string[];
  },
) {
  const before = await checkStanding(ledger.db, order.batch);
  const released = await releaseBatch(ledger, order);
  const { batch, at, halts } = order;
  const after = await checkStanding(ledger.db, batch);
  const unanswered = after?.accepted === true && before?.accepted === false ? before.wait : null;
  const canary = await ledger.write((trx) => liftCanary(trx, batch, { at, seen: halts }));
  return { released, canary, unanswered };
}
