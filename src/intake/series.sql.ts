import { sql } from 'kysely';
import { field, idList, rowsOf, textsOf } from '../core/storage/bulk.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';

const payeeColumns = [
  'row_number',
  'reference',
  'account_number',
  'account_name',
  'bank_code',
  'currency',
  'amount',
  'payee_id',
] as const;
export const paidColumns = [...payeeColumns, 'id', 'batch_id', 'state'] as const;

/** Whom a payout pays, and how much. */
export type PaidRow = Pick<Payout, (typeof paidColumns)[number]>;
/** Without what tells the payout. */
export type PaidPayee = Pick<Payout, (typeof payeeColumns)[number]>;

/** What has left the states before sending, word for word as the indexes by name and by key say it. */
export const leftReady = (payout: 'p' | 'k') =>
  sql<boolean>`${sql.join(
    ['held', 'ready', 'cancelled'].map((state) => sql`${sql.ref(`${payout}.state`)} <> ${sql.lit(state)}`),
    sql` and `,
  )}`;

/** What was never sent vouches for no account. An adopted ledger has payouts that it never sent (P25). */
export const everSent = sql<boolean>`(${leftReady('p')} and (p.attempt_count > 0 or p.state = 'success'))`;

export type EarlierBatch = { id: string; created_at: string; columns: string };

/** So many batches are tried, the newest first: each costs one small query. */
const mostTried = 200;

/**
 * Finds batches with about as many rows, the newest first. A held batch vouches for nothing, nor does one of which
 * everything was cancelled: else a first file could make the changes of a second one look old. One that was held when all of
 * it had gone counts.
 */
export async function batchesAlike(
  db: Db,
  { besides, rows }: { besides: string | null; rows: number },
): Promise<EarlierBatch[]> {
  const { rows: found } = await sql<EarlierBatch>`select b.id, b.created_at, b.columns from batches b
    where b.phase = 'loaded' and b.id <> ${besides ?? ''}
      and (b.held = 0 or not exists (select 1 from payout_totals t
        where t.batch_id = b.id and t.state in ('held', 'ready') and t.n > 0))
      and b.row_count * 2 >= ${rows} and b.row_count <= ${rows * 2}
      and exists (select 1 from payout_totals t where t.batch_id = b.id and t.state <> 'cancelled' and t.n > 0)
    order by b.created_at desc, b.id desc limit ${mostTried}`.execute(db);
  return found;
}

/** Returns those of these batches whose payouts are in the ledger, and not in an archive. */
export function batchesHere(db: Db, ids: readonly string[]): Promise<EarlierBatch[]> {
  return db
    .selectFrom('batches')
    .select(['id', 'created_at', 'columns'])
    .where('id', 'in', textsOf(ids))
    .where('archive_id', 'is', null)
    .execute();
}

/**
 * Tells how many of these accounts each of these batches paid, if any. `distance`: how far its amounts for them are from
 * ours, 0 within ten times, 1 within a thousand.
 */
export async function paidTo(
  db: Db,
  rows: readonly (Account & { amount: bigint })[],
  batches: readonly EarlierBatch[],
): Promise<Map<string, { accounts: number; distance: number }>> {
  const given = rows.map((row) => ({ ...accountFields(row), amount: row.amount.toString() }));
  const { rows: found } = await sql<{ batch: string; accounts: bigint; times: number }>`
    select p.batch_id as batch, count(distinct ${field('row')}) as accounts,
      sum(cast(p.amount as real)) / sum(cast(${field('amount')} as real)) as times
    from ${rowsOf(given)} as row cross join payouts p
    where p.account_number = ${field('account')} and p.currency = ${field('currency')}
      and p.bank_code = ${field('bank')} and p.batch_id in (${textsOf(batches.map(({ id }) => id))})
    group by p.batch_id`.execute(db);
  return new Map(
    found.map(({ batch, accounts, times }) => [
      batch,
      { accounts: Number(accounts), distance: Math.round(Math.abs(Math.log10(times)) / 2) },
    ]),
  );
}

/** The last row of a batch; 0 for a batch without rows. */
export async function lastRow(db: Db, batch: string): Promise<number> {
  const { rows } = await sql<{ last: bigint }>`select coalesce(max(row_number), 0) as last from payouts
    where batch_id = ${batch}`.execute(db);
  return Number(rows[0]?.last ?? 0n);
}

/** Returns some rows of a batch, spread over the whole of it. */
export async function sampleOf(db: Db, batch: string, size: number): Promise<PaidRow[]> {
  const last = await lastRow(db, batch);
  const step = Math.max(1, last / size);
  const wanted = Array.from({ length: Math.min(size, last) }, (_, i) => Math.floor(i * step) + 2);
  return paidRows(db, batch, wanted);
}

/** Returns these rows of a batch; of a row that was paid again, the file's own. */
export function paidRows(db: Db, batch: string, rows: readonly number[]): Promise<PaidRow[]> {
  return db
    .selectFrom('payouts')
    .select(paidColumns)
    .where('batch_id', '=', batch)
    .where('row_number', 'in', idList(rows.map(BigInt)))
    .orderBy('id', 'desc')
    .execute();
}

/** Returns these payouts. */
export async function paidBefore(db: Db, ids: readonly bigint[]): Promise<PaidRow[]> {
  if (ids.length === 0) return [];
  return db.selectFrom('payouts').select(paidColumns).where('id', 'in', idList(ids)).execute();
}

const pageSize = 2000;

/** The payouts of a batch's file in the order of their rows, a page at a time, and whether each was sent. */
export async function* paidIn(
  db: Db,
  batch: string,
): AsyncGenerator<(PaidPayee & { was_sent: bigint | number })[]> {
  for (let after = 0n; ; ) {
    const page = await db
      .selectFrom('payouts as p')
      .select(payeeColumns)
      .select(sql<bigint | number>`case when ${everSent} then 1 else 0 end`.as('was_sent'))
      .where('batch_id', '=', batch)
      .where('row_number', '>', after)
      // What was paid again is no second row (P20).
      .where(sql<boolean>`(p.successor_of is null or not exists (
        select 1 from payouts o where o.id = p.successor_of and o.batch_id = p.batch_id))`)
      .orderBy('row_number')
      .limit(pageSize)
      .execute();
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    after = page.at(-1)?.row_number ?? after;
  }
}

type Account = { row: number; accountNumber: string; bankCode: string; currency: string };

function accountFields({ row, accountNumber, bankCode, currency }: Account) {
  return { row: String(row), account: accountNumber, bank: bankCode, currency };
}

/** Returns those of these rows whose account was paid before with success. */
export async function knownAccounts(db: Db, accounts: readonly Account[]): Promise<Set<number>> {
  if (accounts.length === 0) return new Set();
  const given = accounts.map(accountFields);
  const { rows } = await sql<{ row: string }>`select ${field('row')} as row from ${rowsOf(given)} as row
    where exists (select 1 from payouts p where p.account_number = ${field('account')}
      and p.currency = ${field('currency')} and p.bank_code = ${field('bank')} and p.state = 'success')`.execute(
    db,
  );
  return new Set(rows.map(({ row }) => Number(row)));
}
