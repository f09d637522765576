import type { AdvisedReason } from '../../core/domain/advice.ts';
import { foldReference } from '../../core/domain/ids.ts';
import type { PayoutState } from '../../core/domain/payout.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import {
  addHoldReason,
  type HoldScope,
  holdReasonsOf,
  setHoldReasons,
} from '../../core/ledger/hold-reasons.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { record } from '../../core/ledger/record.ts';
import { isNotPaidAgain } from '../../core/ledger/replaced.ts';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import { countRows, hasRow } from '../../core/storage/counting.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';
import { shownAlready } from '../../watching/evidence/shown-already.sql.ts';
import { withholding } from '../../watching/evidence/withheld.ts';
import { endReasonsOver, waitsFor } from '../scoped-reasons.sql.ts';

const chunk = 1000;

/** The payouts of these references; `missing` are those that the ledger does not hold. */
export async function findReferences(
  db: Db | Trx,
  references: readonly string[],
): Promise<{ payouts: Payout[]; missing: string[] }> {
  const payouts: Payout[] = [];
  const keys = [...new Set(references.map(foldReference))];
  for (const some of inParts(keys, chunk)) {
    const found = db.selectFrom('payouts').selectAll().where('reference_key', 'in', textsOf(some));
    payouts.push(...(await found.execute()));
  }
  const known = new Set(payouts.map((payout) => payout.reference_key));
  return { payouts, missing: references.filter((reference) => !known.has(foldReference(reference))) };
}

/** Finds the first payouts of a batch in a state, without those that are paid again, and counts them all. */
export async function findInBatch(
  db: Db,
  wanted: { batch: string; state: PayoutState; limit: number },
): Promise<{ ids: bigint[]; count: number }> {
  const base = db
    .selectFrom('payouts as p')
    .where('p.batch_id', '=', wanted.batch)
    .where('p.state', '=', wanted.state)
    .where(isNotPaidAgain);
  const rows = await base
    .select('p.id')
    .orderBy('p.row_number')
    .orderBy('p.id')
    .limit(wanted.limit)
    .execute();
  return { ids: rows.map((row) => row.id), count: await countRows(base) };
}

export async function unsentOf(db: Db, ids: readonly bigint[]): Promise<Standing[]> {
  const all: Standing[] = [];
  for (const some of inParts(ids, chunk)) {
    const rows = db.selectFrom('payouts').select(['id', 'reference', 'state', 'message']);
    all.push(...(await rows.where('id', 'in', idList(some)).orderBy('id').execute()));
  }
  return all;
}

type Standing = Pick<Payout, 'id' | 'reference' | 'state' | 'message'>;

/**
 * Cancels the payouts of a batch (or the one payout) that were never sent, in chunks; each is a compare-and-set (P21).
 * `withdrawn`: retries that had not gone out yet. Their payouts are unknown again, since an earlier attempt may have been
 * taken. `listed`: those that the service shows under their reference. They are held, and not cancelled. Everything stays
 * as it is while the barrier of a ledger that went back in time stands (P25): `never sent` could be false. Nothing more of
 * a cancelled batch goes out by itself: what is on its way and comes back unsent is held.
 */
export async function cancelUnsent(ledger: Ledger, request: CancelOrder): Promise<Cancelled> {
  const { batch, payout } = request;
  const total: Cancelled = { cancelled: 0, withdrawn: 0, listed: 0, why: null };
  for (let after = 0n; ; ) {
    const { rows, ...done } = await ledger.write(async (trx) => {
      const isWhole = payout === undefined && request.only === undefined;
      if (isWhole && after === 0n) await keepReturned(trx, batch, true);
      const found = await unsentAfter(trx, request, after);
      const cancelled = await cancelSome(trx, found, request);
      if (isWhole && found.length < chunk) await keepReturned(trx, batch, await mayComeBack(trx, batch));
      await endReasonsOver(trx, batch);
      return { rows: found, ...cancelled };
    });
    total.cancelled += done.cancelled;
    total.withdrawn += done.withdrawn;
    total.listed += rows.length - done.cancelled - done.withdrawn;
    total.why ??= done.why;
    const last = rows.at(-1)?.id;
    if (last === undefined || rows.length < chunk) return total;
    after = last;
  }
}

/** `only`: only what a reason of one of these scopes keeps back. */
export type CancelOrder = {
  batch: string;
  payout?: bigint;
  only?: readonly HoldScope[];
  at: string;
  source: string;
  why: string;
};
type Cancelled = { cancelled: number; withdrawn: number; listed: number; why: AdvisedReason | null };

type Unsent = Awaited<ReturnType<typeof unsentAfter>>[number];

function unsentAfter(trx: Trx, { batch, payout, only }: CancelOrder, after: bigint) {
  return trx
    .selectFrom('payouts')
    .select(['id', 'reference', 'state', 'submitted_at', 'successor_of'])
    .where('batch_id', '=', batch)
    .where('state', 'in', ['ready', 'held'])
    .where('id', '>', after)
    .$if(payout !== undefined, (q) => q.where('id', '=', payout ?? 0n))
    .$if(only !== undefined, (q) => q.where((eb) => eb.or((only ?? []).map((scope) => waitsFor[scope]))))
    .orderBy('id')
    .limit(chunk)
    .execute();
}

/** `why`: the reason for which the first was not cancelled. */
async function cancelSome(
  trx: Trx,
  found: readonly Unsent[],
  { at, source, why }: CancelOrder,
): Promise<Omit<Cancelled, 'listed'>> {
  // P25: after a ledger went back in time, the newer copy may have sent what this one shows as unsent.
  const barrier = await findBarrier(trx);
  if (barrier) return { cancelled: 0, withdrawn: 0, why: found.length > 0 ? barrier : null };
  const shown = await shownAlready(trx, found);
  const events = found.flatMap((one): RecordEvent[] => {
    const reason = shown.get(one.id);
    if (!reason) return [{ payoutId: one.id, source, event: { kind: 'cancel', why } }];
    // One that was never sent, and is held, waits already.
    return one.state === 'held' && one.submitted_at === null ? [] : [withholding(one, reason)];
  });
  const recorded = await record(trx, at, events);
  const count = (state: PayoutState) => recorded.filter(({ to }) => to === state).length;
  const [first] = shown.values();
  return { cancelled: count('cancelled'), withdrawn: count('unknown'), why: first ?? null };
}

/**
 * Sets or removes the reason `cancelled` of a batch: it holds what an answer makes `ready` again (see `holdReturned`).
 */
async function keepReturned(trx: Trx, batch: string, keep: boolean): Promise<void> {
  if (keep) return addHoldReason(trx, batch, { kind: 'cancelled' });
  const { reasons } = await holdReasonsOf(trx, batch);
  await setHoldReasons(
    trx,
    batch,
    reasons.filter(({ kind }) => kind !== 'cancelled'),
  );
}

/**
 * True where a late answer may still show that a payout was not sent: one that is unknown, or on its way. Also where one
 * could not be cancelled (P25): it must not go out, nor be held without a reason.
 */
function mayComeBack(trx: Trx, batch: string): Promise<boolean> {
  const own = trx.selectFrom('payouts').where('batch_id', '=', batch);
  return hasRow(
    own.where((eb) =>
      eb.or([
        eb('state', 'in', ['ready', 'sending', 'unknown']),
        eb.and([
          eb('state', '=', 'held'),
          eb.or([eb('submitted_at', 'is not', null), eb('withheld_by', 'is', null)]),
        ]),
      ]),
    ),
  );
}
