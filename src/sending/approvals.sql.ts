import { createHash } from 'node:crypto';
import { formatMinor } from '../core/domain/money.ts';
import { nubanAgrees } from '../core/domain/nuban.ts';
import { getBatch } from '../core/ledger/batches.ts';
import {
  addHoldReason,
  asksForRows,
  type HoldReason,
  type HoldScope,
  isOfRows,
  isRejectable,
  readReasons,
  setHoldReasons,
} from '../core/ledger/hold-reasons.ts';
import { comparisonDigests } from '../core/ledger/payee-comparisons.ts';
import { textsOf } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Batch, Payout } from '../core/storage/tables/tables.ts';
import { isByServer, serverMayApprove } from './approval.ts';
import { liftReasons, type ReleaseOrder } from './holds.sql.ts';
import { askAgain } from './precheck.sql.ts';

const page = 2000;

/**
 * What a person agrees to when approving a batch: the payments that would go, and the digest of all frozen bodies (P2).
 * Those that were cancelled or sent before are neither counted nor summed.
 */
export type Approvable = {
  bodies: string;
  digest: string;
  throughId: bigint;
  rows: number;
  totals: Record<string, string>;
  /** Account numbers whose check digit does not match the bank: how many, and the row of the first. */
  oddAccounts: { count: number; firstRow: number };
  /** False where the bodies are not those that were taken in. */
  sound: boolean;
};

/** Reads every body of a batch from the ledger, page by page. */
export async function readApprovable(db: Db | Trx, batch: Batch): Promise<Approvable> {
  const file = createHash('sha256');
  const added = createHash('sha256');
  const sums = new Map<string, bigint>();
  const oddAccounts = { count: 0, firstRow: 0 };
  let read = 0n;
  let rows = 0;
  let throughId = 0n;
  for (;;) {
    const found = await db
      .selectFrom('payouts')
      .select(['id', 'row_number', 'state', 'body', 'currency', 'amount', 'bank_code', 'account_number'])
      .where('batch_id', '=', batch.id)
      .where('id', '>', throughId)
      .orderBy('id')
      .limit(page)
      .execute();
    for (const { state, body, currency, amount, ...to } of found) {
      // The file's own rows come first; those that a retry added come after them.
      (read < batch.row_count ? file : added).update(`${body}\n`);
      read += 1n;
      if (state !== 'ready' && state !== 'held') continue;
      sums.set(currency, (sums.get(currency) ?? 0n) + amount);
      rows += 1;
      if (currency === 'NGN' && nubanAgrees(to.bank_code, to.account_number) === false) {
        oddAccounts.count += 1;
        oddAccounts.firstRow ||= Number(to.row_number);
      }
    }
    throughId = found.at(-1)?.id ?? throughId;
    if (found.length < page) break;
  }
  const bodies = file.digest('hex');
  const changes = (await comparisonDigests(db, [batch.id])).get(batch.id);
  const digest = digestOf(bodies, added.digest('hex'), changes);
  const totals = [...sums].map(([currency, sum]) => [currency, formatMinor(sum, currency)]);
  const shown = { bodies, digest, throughId, rows, totals: Object.fromEntries(totals), oddAccounts };
  return { ...shown, sound: bodies === batch.body_digest };
}

/**
 * The digests that approvals of these batches must repeat, by batch, without reading what intake has read: only the
 * bodies that retries added to a batch are read. None for a batch that is loading.
 */
export async function approvalDigests(db: Db | Trx, batches: readonly Batch[]): Promise<Map<string, string>> {
  const decided = batches.filter(({ body_digest }) => body_digest !== '');
  if (decided.length === 0) return new Map();
  const ids = decided.map(({ id }) => id);
  const sums = await db
    .selectFrom('payout_totals')
    .select(['batch_id', (eb) => eb.fn.sum<bigint>('n').as('n')])
    .where('batch_id', 'in', textsOf(ids))
    .groupBy('batch_id')
    .execute();
  const counts = new Map(sums.map(({ batch_id, n }) => [batch_id, BigInt(n)]));
  const digests = new Map<string, string>();
  const changes = await comparisonDigests(db, ids);
  for (const { id, body_digest, row_count } of decided) {
    const isGrown = (counts.get(id) ?? 0n) > row_count;
    const added = isGrown ? await addedDigest(db, id, row_count) : nothingAdded;
    digests.set(id, digestOf(body_digest, added, changes.get(id)));
  }
  return digests;
}

const nothingAdded = createHash('sha256').digest('hex');

/** The digest of the bodies that came after the rows of the file. */
async function addedDigest(db: Db, batch: string, rows: bigint): Promise<string> {
  const found = await db
    .selectFrom('payouts')
    .select('body')
    .where('batch_id', '=', batch)
    .orderBy('id')
    .limit(Number.MAX_SAFE_INTEGER)
    .offset(Number(rows))
    .execute();
  const added = createHash('sha256');
  for (const { body } of found) added.update(`${body}\n`);
  return added.digest('hex');
}

/** `changes`: the digest of what changed about the payees; a batch without changes adds nothing (P37). */
function digestOf(bodies: string, added: string, changes?: string): string {
  const parts = [bodies, added, ...(changes === undefined ? [] : [changes])];
  return createHash('sha256')
    .update(`${parts.join('\n')}\n`)
    .digest('hex');
}

/** The approvals of these batches, or of all, by batch; the newest first. */
export async function approvalsOf(db: Db | Trx, batches?: readonly string[]) {
  const rows = await db
    .selectFrom('approvals')
    .selectAll()
    .$if(batches !== undefined, (query) => query.where('batch_id', 'in', textsOf(batches ?? [])))
    .orderBy('id', 'desc')
    .execute();
  const shown = rows.map((row) => ({
    batch: row.batch_id,
    by: row.approved_by,
    at: row.approved_at,
    digest: row.digest,
    throughId: row.through_id,
  }));
  return Map.groupBy(shown, ({ batch }) => batch);
}

/** Who dropped a payout's batch, and who approved it: the first approval that covers it, a person's before a server's. */
export async function originOf(
  db: Db | Trx,
  { id, batch_id, submitted_at: sent }: Pick<Payout, 'id' | 'batch_id' | 'submitted_at'>,
): Promise<{ dropped_by: string | null; approved_by: string | null; approved_at: string | null }> {
  const batch = await getBatch(db, batch_id);
  const approvals = (await approvalsOf(db, [batch_id])).get(batch_id) ?? [];
  const covering = approvals.filter(({ throughId }) => throughId >= id);
  const ofPerson = covering.findLast((one) => !isByServer(one) && (sent === null || one.at <= sent));
  const approval = ofPerson ?? covering.at(-1);
  return {
    dropped_by: batch?.dropped_by || null,
    approved_by: approval?.by ?? null,
    approved_at: approval?.at ?? null,
  };
}

/**
 * Records an approval if the batch is still what was shown, and lifts the holds that waited for it. `others`: the reasons
 * that still hold the batch. `changed`: the batch is not what was shown; `already`: somebody approved it first. Then nothing
 * was recorded. A server's yes lifts what it may decide, and is recorded unless the whole batch needs a person besides.
 * `isUnseen`: no approval before showed what today's rule asks for, so that none of them counts.
 */
export async function recordApproval(
  trx: Trx,
  order: ApprovalOrder & { isServer?: boolean; isUnseen?: boolean } & Pick<ReleaseOrder, 'look'>,
): Promise<{ kind: 'approved'; others: readonly HoldReason[] } | { kind: 'changed' | 'already' }> {
  const { batch, shown, by, look, isServer = false, isUnseen = false } = order;
  const still = await findStill(trx, order);
  // What waited was rejected, or the last of it was cancelled.
  if (still === null) return { kind: 'changed' };
  const isOver = readReasons(batch.hold_reasons).some(asksForSome) && !still.some(asksForSome);
  const before = (await approvalsOf(trx, [batch.id])).get(batch.id) ?? [];
  const isOpen = !isServer || still.some(serverMayApprove);
  const counted = isUnseen ? [] : before.filter((one) => !(isOpen && isByServer(one)));
  if (counted.some(({ throughId }) => throughId >= shown.throughId)) return { kind: 'already' };
  if (isOver) return { kind: 'changed' };
  const stays = (one: HoldReason): boolean =>
    one.kind === 'approval' ? isServer && !serverMayApprove(one) : one.kind !== 'releasing';
  const left = still.filter(stays);
  // Rows that wait for a person are not covered by a server.
  if (left.every((one) => one.kind !== 'approval' || isOfRows(one))) await insertApproval(trx, order);
  // What the service is asked before payment was not asked about rows that waited.
  if (still.some(asksForRows)) await askAgain(trx, batch.id);
  return { kind: 'approved', others: await liftReasons(trx, batch.id, { stays: left, by, look }) };
}

/** True for a reason that lets only some payouts of a batch wait for an approval. */
function asksForSome(reason: HoldReason): boolean {
  return reason.kind === 'approval' && reason.scope !== undefined;
}

type ApprovalOrder = { batch: Batch; shown: Approvable; by: string; at: string };

async function insertApproval(trx: Trx, { batch, shown, by, at }: ApprovalOrder): Promise<void> {
  await trx
    .insertInto('approvals')
    .values({
      batch_id: batch.id,
      bodies: shown.bodies,
      digest: shown.digest,
      through_id: shown.throughId,
      row_count: BigInt(shown.rows),
      totals: JSON.stringify(shown.totals),
      approved_by: by,
      approved_at: at,
    })
    .execute();
  // What today's rule asks for: the approval covers it, and another rule tomorrow must not forget it.
  await needApproval(trx, batch.id);
}

/**
 * Claims a batch for its rejection: from here on no approval lets it go. `only`: the scopes that are claimed, where the rest
 * of the batch waits for no approval. Null where it is no longer what was shown, or waits for none any more.
 */
export async function claimRejection(
  trx: Trx,
  order: { batch: Pick<Batch, 'id'>; shown: Approvable },
): Promise<{ only?: readonly HoldScope[] } | null> {
  const { id } = order.batch;
  const still = await findStill(trx, order);
  const asks = still?.filter(isRejectable) ?? [];
  if (!still || asks.length === 0) return null;
  const only = new Set(asks.flatMap(({ scope }) => scope ?? []));
  if (asks.some(({ scope }) => scope === undefined)) {
    await addHoldReason(trx, id, { kind: 'cancelled' });
    return {};
  }
  const rejected = [...only].map((scope): HoldReason => ({ kind: 'cancelled', scope }));
  await setHoldReasons(trx, id, [...still.filter((one) => !isRejectable(one)), ...rejected]);
  return { only: [...only] };
}

/** Why the batch is held, while it is what was shown; otherwise null. */
async function findStill(
  trx: Trx,
  { batch, shown }: { batch: Pick<Batch, 'id'>; shown: Approvable },
): Promise<HoldReason[] | null> {
  const now = await trx
    .selectFrom('batches')
    .select(['body_digest', 'hold_reasons'])
    .where('id', '=', batch.id)
    .executeTakeFirstOrThrow();
  const newer = await trx
    .selectFrom('payouts')
    .select('id')
    .where('batch_id', '=', batch.id)
    .where('id', '>', shown.throughId)
    .limit(1)
    .executeTakeFirst();
  return now.body_digest !== shown.bodies || newer ? null : readReasons(now.hold_reasons);
}

/** The totals of a batch at its intake, in minor units per currency. */
export async function batchTotals(db: Db | Trx, batch: string): Promise<Map<string, bigint>> {
  const rows = await db.selectFrom('batch_totals').selectAll().where('batch_id', '=', batch).execute();
  return new Map(rows.map(({ currency, amount }) => [currency, amount]));
}

/** Writes the totals of a batch, and whether it needs an approval, in the transaction that decides this. */
export async function noteBatch(
  trx: Trx,
  batch: { id: string; totals: ReadonlyMap<string, bigint>; needsApproval: boolean },
): Promise<void> {
  const rows = [...batch.totals].map(([currency, amount]) => ({ batch_id: batch.id, currency, amount }));
  if (rows.length > 0) await trx.insertInto('batch_totals').values(rows).execute();
  if (batch.needsApproval) await needApproval(trx, batch.id);
}

/** Marks a batch as one that is sent only with an approval. The mark is never removed. */
export async function needApproval(trx: Trx, batch: string): Promise<void> {
  await trx.updateTable('batches').set({ approval_needed: 1n }).where('id', '=', batch).execute();
}
