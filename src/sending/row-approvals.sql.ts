import { sql } from 'kysely';
import { formatMinor } from '../core/domain/money.ts';
import { holdReasonsOf } from '../core/ledger/hold-reasons.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { waitsFor } from './scoped-reasons.sql.ts';

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
  const { n } = await db
    .selectFrom('payouts')
    .where('batch_id', '=', batch)
    .where('approval_needed', '=', sql.lit(1n))
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** What waits in a batch for an approval of some of its payouts; null where the whole batch waits, or nothing of it. */
export async function waitingRows(
  db: Db | Trx,
  batch: string,
): Promise<{ rows: number; totals: Record<string, string> } | null> {
  const { reasons } = await holdReasonsOf(db, batch);
  const scopes = reasons.flatMap((one) => (one.kind === 'approval' ? [one.scope] : []));
  const some = scopes.filter((scope) => scope !== undefined);
  if (some.length === 0 || some.length < scopes.length) return null;
  const sums = await db
    .selectFrom('payouts')
    .where('batch_id', '=', batch)
    .where('state', '=', 'held')
    .where((eb) => eb.or(some.map((scope) => waitsFor[scope])))
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
