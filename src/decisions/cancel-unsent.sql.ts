import type { Reason } from '../domain/advice.ts';
import { foldReference } from '../domain/ids.ts';
import type { PayoutState } from '../domain/payout.ts';
import { shownAlready } from '../evidence/shown-already.sql.ts';
import { findBarrier } from '../ledger/barriers.ts';
import { addHoldReason, holdReasonsOf, setHoldReasons } from '../ledger/hold-reasons.ts';
import { record } from '../ledger/record.ts';
import { countRows, hasRow } from '../storage/counting.ts';
import { inParts } from '../storage/keyset.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';
import type { Payout } from '../storage/tables/tables.ts';

const chunk = 1000;

/** The payouts of these references; `missing` are those that the ledger does not hold. */
export async function findReferences(
  db: Db | Trx,
  references: readonly string[],
): Promise<{ payouts: Payout[]; missing: string[] }> {
  const payouts: Payout[] = [];
  const keys = [...new Set(references.map(foldReference))];
  for (const some of inParts(keys, chunk)) {
    const found = db.selectFrom('payouts').selectAll().where('reference_key', 'in', some);
    payouts.push(...(await found.execute()));
  }
  const known = new Set(payouts.map((payout) => payout.reference_key));
  return { payouts, missing: references.filter((reference) => !known.has(foldReference(reference))) };
}

/** Finds the first payouts of a batch in a state, without those that have a successor, and counts them all. */
export async function findInBatch(
  db: Db,
  wanted: { batch: string; state: PayoutState; limit: number },
): Promise<{ ids: bigint[]; count: number }> {
  const base = db
    .selectFrom('payouts as p')
    .leftJoin('payouts as s', 's.successor_of', 'p.id')
    .where('p.batch_id', '=', wanted.batch)
    .where('p.state', '=', wanted.state)
    .where('s.id', 'is', null);
  const rows = await base
    .select('p.id')
    .orderBy('p.row_number')
    .orderBy('p.id')
    .limit(wanted.limit)
    .execute();
  return { ids: rows.map((row) => row.id), count: await countRows(base) };
}

export async function standingOf(db: Db, ids: readonly bigint[]): Promise<Standing[]> {
  const all: Standing[] = [];
  for (const some of inParts(ids, chunk)) {
    const rows = db.selectFrom('payouts').select(['id', 'reference', 'state', 'message']);
    all.push(...(await rows.where('id', 'in', some).orderBy('id').execute()));
  }
  return all;
}

type Standing = Pick<Payout, 'id' | 'reference' | 'state' | 'message'>;

/**
 * Cancels the payouts of a batch (or the one payout) that were never sent, in chunks; each is a compare-and-set (P21).
 * `waiting`: those that an earlier attempt keeps from being cancelled, such as a retry that has not gone out yet.
 * `listed`: those that the service shows under their reference. They stay as they are. So does everything while the
 * barrier of a ledger that went back in time stands (P25): `never sent` could be false. What was on its way and comes
 * back unsent is held, since a cancelled batch sends nothing more.
 */
export async function cancelUnsent(
  ledger: Ledger,
  request: { batch: string; payout?: bigint; at: string; source: string; why: string },
): Promise<{ cancelled: number; waiting: number; listed: number; why: Reason | null }> {
  const total: Awaited<ReturnType<typeof cancelUnsent>> = { cancelled: 0, waiting: 0, listed: 0, why: null };
  for (let after = 0n; ; ) {
    const { last, rows, moved, listed } = await ledger.write(async (trx) => {
      if (request.payout === undefined && after === 0n) await keepReturned(trx, request.batch, true);
      let query = trx
        .selectFrom('payouts')
        .select(['id', 'reference', 'submitted_at', 'successor_of'])
        .where('batch_id', '=', request.batch)
        .where('state', 'in', ['ready', 'held'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(chunk);
      if (request.payout !== undefined) query = query.where('id', '=', request.payout);
      const found = await query.execute();
      // P25: after a ledger went back in time, the newer copy may have sent what this one shows as unsent.
      const barrier = await findBarrier(trx);
      const shown = barrier
        ? new Map<bigint, Reason>(found.map(({ id }) => [id, barrier]))
        : await shownAlready(trx, found);
      const event = { kind: 'cancel' as const, why: request.why };
      const recorded = await record(
        trx,
        request.at,
        found
          .filter(({ id }) => !shown.has(id))
          .map(({ id }) => ({ payoutId: id, source: request.source, event })),
      );
      const cancelled = recorded.filter(({ to }) => to === 'cancelled').length;
      if (request.payout === undefined && found.length < chunk)
        await keepReturned(trx, request.batch, await mayComeBack(trx, request.batch));
      return { last: found.at(-1)?.id, rows: found.length, moved: cancelled, listed: shown };
    });
    total.cancelled += moved;
    total.waiting += rows - moved - listed.size;
    total.listed += listed.size;
    total.why ??= [...listed.values()][0] ?? null;
    if (last === undefined || rows < chunk) return total;
    after = last;
  }
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
 * stays held: it must not be held without a reason.
 */
function mayComeBack(trx: Trx, batch: string): Promise<boolean> {
  const own = trx.selectFrom('payouts').where('batch_id', '=', batch);
  return hasRow(
    own.where((eb) =>
      eb.or([
        eb('state', 'in', ['sending', 'unknown']),
        eb.and([
          eb('state', '=', 'held'),
          eb.or([eb('submitted_at', 'is not', null), eb('withheld_by', 'is', null)]),
        ]),
      ]),
    ),
  );
}
