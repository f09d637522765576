import { sql } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import { perDialect } from './dialect.ts';
import { linesOfBatch } from './lineage.ts';
import type { Db, Trx } from './open.ts';

/** A payout in the ledger with the same account, currency and amount as a row of a new batch, under another reference. */
export type Likeness = {
  row: number;
  reference: string;
  earlierReference: string;
  earlierBatch: string;
  earlierAt: string;
};

/** States that prove that no money went: such a payout is no duplicate of anything. */
const neverPaid = ['cancelled', 'refused'] as const;

type Wanted = {
  row: number;
  reference: string;
  accountNumber: string;
  currency: string;
  amount: bigint;
  /** The payouts that the row pays again, by id: no duplicates of it (P20). */
  replaces?: ReadonlySet<bigint> | undefined;
};

/** What of these rows was ordered before (P23). The newest earlier payout of each row. For at most 5,000 rows a call. */
export async function likenessOf(db: Db | Trx, mode: Mode, rows: readonly Wanted[]): Promise<Likeness[]> {
  if (rows.length === 0) return [];
  const keys = sql.join(
    rows.map(
      (row) =>
        sql`(${row.accountNumber}, ${row.currency}, ${perDialect(sql`${row.amount}`, sql`${row.amount}::bigint`)})`,
    ),
  );
  const found = await db
    .selectFrom('payouts as p')
    .innerJoin('batches as b', 'b.id', 'p.batch_id')
    .select([
      'p.id',
      'p.reference',
      'p.batch_id',
      'p.account_number',
      'p.currency',
      'p.amount',
      'b.created_at',
    ])
    .where('p.mode', '=', mode)
    .where('p.state', 'not in', neverPaid)
    .where(sql<boolean>`(p.account_number, p.currency, p.amount) in (values ${keys})`)
    .orderBy('b.created_at')
    .execute();
  const alike = Map.groupBy(
    found,
    ({ account_number, currency, amount }) => `${account_number} ${currency} ${amount}`,
  );
  return rows.flatMap((row) => {
    const own = alike.get(`${row.accountNumber} ${row.currency} ${row.amount}`) ?? [];
    const earlier = own.findLast(({ id }) => !row.replaces?.has(id));
    if (!earlier) return [];
    const { reference: earlierReference, batch_id: earlierBatch, created_at: earlierAt } = earlier;
    return [{ row: row.row, reference: row.reference, earlierReference, earlierBatch, earlierAt }];
  });
}

/**
 * The same question for a whole loaded batch, set-based: how many of its payouts resemble one of another batch taken
 * at or after `since` (or before it), and the first few of them.
 */
export async function batchLikeness(
  trx: Db | Trx,
  batch: { id: string; mode: Mode },
  when: { since: string; recent: boolean },
  show: number,
): Promise<{ count: number; first: Likeness[] }> {
  const pairs = trx
    .selectFrom('payouts as n')
    .innerJoin('payouts as p', (join) =>
      join
        .onRef('p.mode', '=', 'n.mode')
        .onRef('p.account_number', '=', 'n.account_number')
        .onRef('p.currency', '=', 'n.currency')
        .onRef('p.amount', '=', 'n.amount')
        .onRef('p.batch_id', '<>', 'n.batch_id'),
    )
    .innerJoin('batches as b', 'b.id', 'p.batch_id')
    .where('n.batch_id', '=', batch.id)
    .where('n.mode', '=', batch.mode)
    .where('p.state', 'not in', neverPaid)
    .where(sql<boolean>`(n.id, p.id) not in ${linesOfBatch(batch.id)}`)
    .where('b.created_at', when.recent ? '>=' : '<', when.since);
  const { count } = await pairs
    .select(sql<bigint>`count(distinct n.id)`.as('count'))
    .executeTakeFirstOrThrow();
  if (count === 0n) return { count: 0, first: [] };
  const rows = await pairs
    .select(['n.row_number', 'n.reference', 'p.reference as earlier', 'p.batch_id', 'b.created_at'])
    .orderBy('n.row_number')
    .orderBy('b.created_at', 'desc')
    .limit(show)
    .execute();
  const first = rows.map((row) => ({
    row: Number(row.row_number),
    reference: row.reference,
    earlierReference: row.earlier,
    earlierBatch: row.batch_id,
    earlierAt: row.created_at,
  }));
  return { count: Number(count), first };
}
