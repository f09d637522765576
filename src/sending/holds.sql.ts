import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { releaseFile } from '../core/ledger/batch-files.ts';
import {
  addHoldReason,
  areHoldingAll,
  type HoldReason,
  holdReasonsOf,
  isOfRows,
  isOfSuccessors,
  isSameReason,
  notingAbove,
  readReasons,
  releaseUnderWay,
  seenIn,
  setHoldReasons,
} from '../core/ledger/hold-reasons.ts';
import { type Recorded, record } from '../core/ledger/record.ts';
import { idList } from '../core/storage/bulk.ts';
import { countRows, hasRow } from '../core/storage/counting.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { isLedgerFile } from '../core/storage/place.ts';
import { withheldBy } from '../watching/evidence/withheld.ts';
import { rowWaits } from './approved.sql.ts';
import { limitsOf } from './daily-limit.ts';
import { holdNote } from './hold-facts.ts';
import { tooLarge } from './limits.sql.ts';
import { acceptPrecheck } from './precheck.sql.ts';
import { countKept, type Released, releaseOf } from './released.ts';
import { endReasonsOver, reasonsOver, waitsFor } from './scoped-reasons.sql.ts';

/** Payouts of one transaction, where the order names no other number. */
const usualChunk = 1000;

/**
 * Holds a batch, and returns how many payouts moved to `held` (P21). The first transaction writes the reason: from then on
 * no payout of the batch is claimed, whatever a release beside it still does. The payouts follow in chunks; what is already
 * on its way stays alone. `finding`: writes what the reason follows from, in the first transaction, so that nobody can
 * accept a finding whose reason was never shown. Where it returns false, nothing is held.
 */
export async function holdBatch(
  ledger: Ledger,
  {
    batch,
    reason,
    at,
    source = 'person',
    chunk = usualChunk,
    finding = async () => true,
  }: {
    batch: string;
    reason: HoldReason;
    at: string;
    source?: string;
    chunk?: number;
    finding?: (trx: Trx) => Promise<boolean>;
  },
): Promise<number> {
  const why = holdNote(reason);
  const first = await ledger.write(async (trx) => {
    if (!(await finding(trx))) return 0;
    await addHoldReason(trx, batch, reason);
    return holdSome(trx, batch, { at, source, why, chunk });
  });
  return first < chunk ? first : first + (await holdRest(ledger, batch, { at, source, why, chunk }));
}

type Hold = { at: string; source: string; why: string; chunk: number };

/** Moves the ready payouts of a held batch to `held`, until a release begins or none is left. Returns how many moved. */
async function holdRest(ledger: Ledger, batch: string, hold: Hold): Promise<number> {
  for (let moved = 0; ; ) {
    const done = await ledger.write(async (trx) => {
      const { reasons } = await holdReasonsOf(trx, batch);
      return areHoldingAll(reasons) ? holdSome(trx, batch, hold) : 0;
    });
    moved += done;
    if (done < hold.chunk) return moved;
  }
}

async function holdSome(trx: Trx, batch: string, { at, source, why, chunk }: Hold): Promise<number> {
  const rows = await trx
    .selectFrom('payouts')
    .select('id')
    .where('batch_id', '=', batch)
    .where('state', '=', 'ready')
    .limit(chunk)
    .execute();
  const event = { kind: 'hold' as const, why };
  const events = rows.map((row) => ({ payoutId: row.id, source, event }));
  await record(trx, at, events);
  return rows.length;
}

export type ReleaseOrder = {
  batch: string;
  at: string;
  dailyLimit?: Record<string, string>;
  /** Who decided, for the history; empty where no name is known. */
  by?: string;
  /** Payouts of one transaction. */
  chunk?: number;
  /** Looks again, in the transaction that begins the release, for reasons to hold what it would let go. */
  look?: ((trx: Trx) => Promise<HoldReason[]>) | undefined;
};

/**
 * Releases a batch. It lifts the reasons that the person saw, and no approval. `seen`: those reasons; without it, the
 * present ones. A reason that joined later stays, so that all of the batch stays held; `stays` names it. Payouts that could
 * be paid twice, or are above a whole day's limit, stay held and say why.
 */
export async function releaseBatch(
  ledger: Ledger,
  { seen, ...order }: ReleaseOrder & { seen?: readonly HoldReason[] },
): Promise<Released> {
  const { batch, at } = order;
  const known = seen ?? (await holdReasonsOf(ledger.db, batch)).reasons;
  // What the hold has not reached yet would go, and its history would not say that a person let it.
  await finishHold(ledger, batch, at);
  await ledger.write(async (trx) => {
    const { reasons } = await holdReasonsOf(trx, batch);
    const stays = reasons.filter(
      (reason) =>
        reason.kind !== 'releasing' &&
        (reason.kind === 'approval' ||
          isOfRows(reason) ||
          !known.some((one) => isDeepStrictEqual(one, reason))),
    );
    if (!stays.some(({ kind }) => checkKinds.has(kind))) await acceptPrecheck(trx, batch);
    if (!stays.some(({ kind }) => fileKinds.has(kind)))
      await releaseFile(trx, batch, { lookAgain: isLedgerFile(ledger.place) });
    await liftReasons(trx, batch, { stays, by: order.by ?? '', look: order.look });
  });
  return finishRelease(ledger, order);
}

const checkKinds: ReadonlySet<HoldReason['kind']> = new Set(['balance', 'account_names', 'check_unreadable']);
const fileKinds: ReadonlySet<HoldReason['kind']> = new Set([
  'file_grown',
  'file_changed',
  'file_not_archived',
  'file_missing',
]);

/**
 * Leaves only the reasons that stay, and returns them. Without one that holds all of the batch, a release begins: its
 * reason keeps the batch from being claimed until `finishRelease` has moved every payout that may go, also when the process
 * dies. What `look` finds holds the batch, unless all of it is among those that are lifted: the person saw it.
 */
export async function liftReasons(
  trx: Trx,
  batch: string,
  { stays, by, look }: { stays: readonly HoldReason[] } & Pick<ReleaseOrder, 'look'> & { by: string },
): Promise<readonly HoldReason[]> {
  const { reasons, version } = await holdReasonsOf(trx, batch);
  const left = notingAbove(reasons, stays);
  if (areHoldingAll(stays)) {
    await setHoldReasons(trx, batch, left);
    return stays;
  }
  // A release under way has passed the rows that an approval lets go now: another one begins.
  if (releaseUnderWay(reasons) && stays.length + 1 >= reasons.length) return stays;
  const mark = Number(version);
  const found = (await look?.(trx)) ?? [];
  const isSeen = found.every((reason) => seenIn(reasons).some((one) => isSameReason(one, reason)));
  const releasing: HoldReason = { kind: 'releasing', by, mark };
  const now = isSeen ? [releasing] : found.map((one) => ({ ...one, mark }));
  await setHoldReasons(trx, batch, [...now, ...left]);
  return isSeen ? stays : [...found, ...stays];
}

/**
 * Moves the held payouts of a batch whose release has begun to `ready`, in chunks. It ends when the last is moved, or when
 * another reason has ended the release: then `stays` names that. May be repeated after a crash, by any process.
 */
export async function finishRelease(
  ledger: Ledger,
  { batch, at, dailyLimit = {}, by = '', chunk = usualChunk }: ReleaseOrder,
): Promise<Released> {
  const limits = limitsOf(dailyLimit);
  const source = by === '' ? 'person' : `person:${by}`;
  const total: Released = { moved: 0, kept: 0, first: [], doubted: 0, firstDoubted: [], stays: [] };
  const { reasons } = await holdReasonsOf(ledger.db, batch);
  const own = releaseUnderWay(reasons);
  if (!own) return { ...total, stays: reasons };
  const held = await countRows(ofBatch(ledger.db, batch, 'held'));
  for (let after: bigint | null = 0n; after !== null; ) {
    const step = await ledger.write((trx) => releaseSome(trx, after ?? 0n));
    if (step.kind === 'ended') return endedBy(step.now);
    total.stays = step.left;
    total.moved += step.rows.length - step.kept.size;
    for (const row of step.rows) {
      const reason = step.kept.get(row.id);
      if (reason) countKept(row, reason, total);
    }
    after = step.next;
  }
  return total;

  async function releaseSome(trx: Trx, after: bigint) {
    const { reasons: now } = await holdReasonsOf(trx, batch);
    // Another release has another mark: it has not seen what this one has passed.
    if (releaseUnderWay(now)?.mark !== own?.mark) return { kind: 'ended' as const, now };
    const rows = await heldAfter(trx, batch, { after, limit: chunk, now });
    const kept = new Map([...tooLarge(rows, limits), ...(await withheldBy(trx, rows))]);
    await record(
      trx,
      at,
      rows.flatMap((row) => releaseOf(row, kept.get(row.id), source)),
    );
    const next = rows.length < chunk ? null : (rows.at(-1)?.id ?? null);
    // The transaction that moves the last removes the reason: a crash leaves nothing held without one.
    const left = now.filter(({ kind }) => kind !== 'releasing');
    if (next === null) await setHoldReasons(trx, batch, left);
    return { kind: 'moved' as const, rows, kept, next, left };
  }

  /** Another process has ended this release: it finished it, or holds the batch. */
  async function endedBy(now: readonly HoldReason[]): Promise<Released> {
    const stays = now.filter(({ kind }) => kind !== 'releasing');
    // The new reason takes back what this release had moved: nothing was claimed meanwhile, and nothing may go.
    if (areHoldingAll(stays)) return { ...total, moved: 0, stays };
    return {
      ...total,
      stays,
      moved: held - total.doubted - (await countRows(ofBatch(ledger.db, batch, 'held'))),
    };
  }
}

/** What no other reason keeps. Rejected rows stay, also where an approval was given since. */
function heldAfter(
  trx: Trx,
  batch: string,
  { after, limit, now }: { after: bigint; limit: number; now: readonly HoldReason[] },
) {
  return ofBatch(trx, batch, 'held')
    .select(['id', 'reference', 'submitted_at', 'successor_of'])
    .select(['withheld_by', 'message', 'currency', 'amount'])
    .where('id', '>', after)
    .where(sql<boolean>`not ${rowWaits}`)
    .$if(now.some(isOfSuccessors), (query) => query.where(sql<boolean>`not ${waitsFor.successors}`))
    .$if(now.some(isOfRows), (query) => query.where('approval_needed', '=', 0n))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Makes the payouts agree with the reasons of their batches, where a process died at a hold or a release. */
export async function finishHolds(ledger: Ledger, order: Omit<ReleaseOrder, 'batch' | 'by'>): Promise<void> {
  const batches = await ledger.db
    .selectFrom('batches')
    .select(['id', 'hold_reasons'])
    .where('hold_reasons', '<>', '[]')
    .where('phase', '=', 'loaded')
    .execute();
  for (const { id: batch, hold_reasons } of batches) {
    const reasons = readReasons(hold_reasons);
    if ((await reasonsOver(ledger.db, batch, reasons)).length > 0)
      await ledger.write((trx) => endReasonsOver(trx, batch));
    const release = releaseUnderWay(reasons);
    if (release) await finishRelease(ledger, { ...order, batch, by: release.by });
    else await finishHold(ledger, batch, order.at);
  }
}

/** Moves what is still ready of a held batch to `held`: a claim only writes the reason, and a process may have died. */
async function finishHold(ledger: Ledger, batch: string, at: string): Promise<void> {
  const { reasons } = await holdReasonsOf(ledger.db, batch);
  const reason = reasons.find((one) => areHoldingAll([one]));
  if (!reason || releaseUnderWay(reasons) || !(await hasRow(ofBatch(ledger.db, batch, 'ready')))) return;
  await holdRest(ledger, batch, { at, source: 'brake', why: holdNote(reason), chunk: usualChunk });
}

function ofBatch(db: Db | Trx, batch: string, state: 'held' | 'ready') {
  return db.selectFrom('payouts').where('batch_id', '=', batch).where('state', '=', state);
}

/** Holds a payout that an answer made `ready` again, where its batch was held while the request was under way (P21). */
export async function holdReturned(trx: Trx, at: string, recorded: readonly Recorded[]): Promise<void> {
  const back = recorded.flatMap(({ payoutId, to }) => (to === 'ready' ? [payoutId] : []));
  if (back.length === 0) return;
  const rows = await trx
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select(['payouts.id', 'batches.hold_reasons'])
    .where('payouts.id', 'in', idList(back))
    .where('batches.held', '=', 1n)
    .execute();
  const held = rows.filter(({ hold_reasons }) => areHoldingAll(readReasons(hold_reasons)));
  const event = { kind: 'hold' as const, why: 'its batch was held while the request was under way' };
  await record(
    trx,
    at,
    held.map(({ id }) => ({ payoutId: id, source: 'person', event })),
  );
}
