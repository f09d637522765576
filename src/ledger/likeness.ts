import { sql } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import { linesOfBatch } from './lineage.ts';
import type { Db, Trx } from './open.ts';
import { prepared } from './prepared.ts';
import type { Payout } from './tables.ts';

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

/** How many rows one question asks about. */
const rowsPerQuestion = 100;

type Found = Pick<Payout, 'id' | 'reference' | 'batch_id' | 'account_number' | 'currency' | 'amount'> & {
  created_at: string;
};

/** Put together once: a check asks it for each hundred rows. `cross join` keeps SQLite from reading all payouts first. */
const findAlike = prepared<Found>((_, slot) => {
  const rows = Array.from(
    { length: rowsPerQuestion },
    (_row, i) => sql`(${slot(i * 3 + 1)}, ${slot(i * 3 + 2)}, ${slot(i * 3 + 3)})`,
  );
  return sql<Found>`select p.id, p.reference, p.batch_id, p.account_number, p.currency, p.amount, b.created_at
    from (values ${sql.join(rows)}) v cross join payouts p join batches b on b.id = p.batch_id
    where p.mode = ${slot(0)} and p.account_number = v.column1 and p.currency = v.column2
      and p.amount = cast(v.column3 as bigint) and p.state not in (${sql.join(neverPaid.map((state) => sql.lit(state)))})
    order by b.created_at`;
});

/** What of these rows was ordered before (P23). The newest earlier payout of each row. */
export async function likenessOf(db: Db | Trx, mode: Mode, rows: readonly Wanted[]): Promise<Likeness[]> {
  const found: Found[] = [];
  for (let from = 0; from < rows.length; from += rowsPerQuestion) {
    const asked = rows.slice(from, from + rowsPerQuestion);
    const values = asked.flatMap((row) => [row.accountNumber, row.currency, row.amount.toString()]);
    // What is missing to a hundred asks about no account.
    for (let i = asked.length; i < rowsPerQuestion; i++) values.push('', '', '0');
    found.push(...(await findAlike(db, [mode, ...values])));
  }
  if (found.length === 0) return [];
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

/** So few that one statement holds nobody up for long, so many that equal payouts are rarely asked for twice. */
const rowsPerStep = 20_000n;

/**
 * Whether any payout of a loaded batch has the account, currency and amount of one of another batch, ever. Of equal
 * payouts one asks: each would look at all the others.
 */
export async function hasLikeness(trx: Db | Trx, batch: { id: string; mode: Mode }): Promise<boolean> {
  const { last } = await trx
    .selectFrom('payouts')
    .select((eb) => eb.fn.max<bigint | null>('row_number').as('last'))
    .where('batch_id', '=', batch.id)
    .executeTakeFirstOrThrow();
  for (let from = 0n; from <= (last ?? -1n); from += rowsPerStep) {
    const { rows } = await sql<{ id: bigint }>`select p.id
      from (select distinct account_number, currency, amount from payouts
          where batch_id = ${batch.id} and row_number >= ${from} and row_number < ${from + rowsPerStep}) n
        cross join payouts p
      where p.mode = ${batch.mode} and p.account_number = n.account_number and p.currency = n.currency
        and p.amount = n.amount and p.batch_id <> ${batch.id} limit 1`.execute(trx);
    if (rows.length > 0) return true;
  }
  return false;
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
