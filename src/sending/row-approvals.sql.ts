import { type RawBuilder, sql } from 'kysely';
import { formatMinor } from '../core/domain/money.ts';
import { type HoldReason, holdReasonsOf, isOfRows, setHoldReasons } from '../core/ledger/hold-reasons.ts';
import { idList } from '../core/storage/bulk.ts';
import { hasRow } from '../core/storage/counting.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { serverPrefix } from './approval.ts';

/**
 * True in SQL for a payout that an approval of its batch covers, over the frozen bodies that the batch has. For queries over
 * `payouts`.
 */
export const isCovered: RawBuilder<boolean> = sql`exists (select 1 from approvals as a
  join batches as b on b.id = a.batch_id where a.batch_id = payouts.batch_id
    and a.bodies = b.body_digest and a.through_id >= payouts.id)`;

/** True in SQL for a batch that a person approved, over the frozen bodies that it has. A server sees no payees (P37). */
export function isByPerson(batch: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select 1 from approvals as h join batches as hb on hb.id = h.batch_id
    where h.batch_id = ${batch} and h.bodies = hb.body_digest
      and substr(h.approved_by, 1, ${sql.lit(serverPrefix.length)}) <> ${sql.lit(serverPrefix)})`;
}

const isOfPerson = isByPerson(sql`payouts.batch_id`);

/** True in SQL for a payout whose own row waits for a person's approval, whatever its batch needs (P37). */
export const rowWaits: RawBuilder<boolean> = sql`(payouts.approval_needed = 1 and not (${isCovered} and ${isOfPerson}))`;

/** Marks rows of a loading batch as sent only with an approval. After the intake nothing changes a mark. */
export async function markRows(trx: Trx, batch: string, rows: readonly number[]): Promise<void> {
  await trx
    .updateTable('payouts')
    .set({ approval_needed: 1n })
    .where('batch_id', '=', batch)
    .where('row_number', 'in', idList(rows.map(BigInt)))
    .execute();
}

/** How many payouts of a batch are marked. */
export async function countMarked(db: Db | Trx, batch: string): Promise<number> {
  const { n } = await marked(db, batch)
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** What waits in a batch for an approval of single rows; null where the whole batch waits, or nothing of it. */
export async function waitingRows(
  db: Db | Trx,
  batch: string,
): Promise<{ rows: number; totals: Record<string, string> } | null> {
  const { reasons } = await holdReasonsOf(db, batch);
  const asks = reasons.filter(({ kind }) => kind === 'approval');
  if (asks.length === 0 || !asks.every(isOfRows)) return null;
  const sums = await marked(db, batch)
    .where('state', '=', 'held')
    .select((eb) => ['currency', eb.fn.countAll<bigint>().as('n'), eb.fn.sum<bigint>('amount').as('amount')])
    .groupBy('currency')
    .orderBy('currency')
    .execute();
  return {
    rows: sums.reduce((rows, { n }) => rows + Number(n), 0),
    totals: Object.fromEntries(
      sums.map(({ currency, amount }) => [currency, formatMinor(BigInt(amount), currency)]),
    ),
  };
}

/** Removes the reasons that hold single rows, once none of them waits any more. */
export async function endRowReasons(trx: Trx, batch: string): Promise<void> {
  const { reasons } = await holdReasonsOf(trx, batch);
  if (!(await areRowsOver(trx, batch, reasons))) return;
  await setHoldReasons(
    trx,
    batch,
    reasons.filter((one: HoldReason) => !isOfRows(one)),
  );
}

/** True where reasons hold single rows of a batch, and none of those waits any more. */
export async function areRowsOver(
  db: Db | Trx,
  batch: string,
  reasons: readonly HoldReason[],
): Promise<boolean> {
  if (!reasons.some(isOfRows)) return false;
  return !(await hasRow(marked(db, batch).where('state', '=', 'held')));
}

function marked(db: Db | Trx, batch: string) {
  return db.selectFrom('payouts').where('batch_id', '=', batch).where('approval_needed', '=', sql.lit(1n));
}
