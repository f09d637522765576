import { sql } from 'kysely';
import { z } from 'zod';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Period } from '../core/storage/tables/period-tables.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { asIs, sheetOf } from './sheet.ts';

/** The entries of the history that a month has. A closed month has its own for ever, an open one those of its time. */
export type MonthSpan = { after: bigint; through: bigint | null; startsAt: string; endsAt: string };

export function closedSpan({ from_history, through_history, starts_at, ends_at }: Period): MonthSpan {
  return { after: from_history, through: through_history, startsAt: starts_at, endsAt: ends_at };
}

/** A payout that was paid in the month and still was at its end. `paidAt`: when that became known. */
export type MonthPayment = Pick<
  Payout,
  | 'reference'
  | 'account_name'
  | 'account_number'
  | 'bank_code'
  | 'amount'
  | 'currency'
  | 'batch_id'
  | 'row_number'
  | 'transfer_id'
  | 'fee'
> & { entry: bigint; paid_at: string };

/** The entry beside which a page of paid rows begins. */
type Place = { entry: bigint; paid_at: string };

/**
 * The order in which the paid rows `h` of a month are read in pages, and what lies beyond a row. An open month goes by
 * their time, which an index has: by their numbers, each page would sort the whole month.
 */
export function paidPage({ through }: MonthSpan, last: Place | null, direction: 'asc' | 'desc') {
  const isOpen = through === null;
  const way = sql.raw(direction);
  const order = isOpen ? sql`h.at ${way}, h.id ${way}` : sql`h.id ${way}`;
  if (last === null) return { beyond: sql``, order };
  const { entry, paid_at: at } = last;
  const past = sql.raw(direction === 'asc' ? '>' : '<');
  // Spelled out: SQLite would use only a part of the index for a comparison of rows.
  const beyond = isOpen
    ? sql`and h.at ${past}= ${at} and (h.at ${past} ${at} or h.id ${past} ${entry})`
    : sql`and h.id ${past} ${entry}`;
  return { beyond, order };
}

/** Paid rows of a month, the newest first; `before`: those in front of this entry. */
export async function paidInMonth(
  db: Db,
  span: MonthSpan,
  { limit, before }: { limit: number; before: Place | null },
): Promise<MonthPayment[]> {
  const { beyond, order } = paidPage(span, before, 'desc');
  const { rows } = await sql<MonthPayment>`select h.id as entry, h.at as paid_at, p.reference, p.account_name,
      p.account_number, p.bank_code, p.amount, p.currency, p.batch_id, p.row_number, p.transfer_id, p.fee
    from history h join payouts p on p.id = h.payout_id
    where ${isPaidIn(span)} ${beyond}
    order by ${order} limit ${limit}`.execute(db);
  return rows;
}

/** The entry that a page names as its beginning; null for one that there is not. */
export async function findEntry(db: Db, id: string): Promise<Place | null> {
  const row = await db
    .selectFrom('history')
    .select(['id as entry', 'at as paid_at'])
    .where('id', '=', BigInt(id))
    .executeTakeFirst();
  return row ?? null;
}

const pageSize = 1000;

export async function* allPaidInMonth(db: Db, span: MonthSpan): AsyncGenerator<MonthPayment[]> {
  for (let before: Place | null = null; ; ) {
    const page: MonthPayment[] = await paidInMonth(db, span, { limit: pageSize, before });
    yield page;
    if (page.length < pageSize) return;
    before = page.at(-1) ?? null;
  }
}

/** True where more than `most` payouts were paid in the month: what was paid is not added up at once. */
export async function areManyPaid(db: Db, span: MonthSpan, most: number): Promise<boolean> {
  const { rows } = await sql<{ n: bigint }>`select count(*) as n
    from (select 1 from history h where ${isPaidIn(span)} limit ${most + 1}) paid`.execute(db);
  return Number(rows[0]?.n ?? 0) > most;
}

/** What was paid in one currency; `minor` in minor units. */
export type PaidSum = { currency: string; count: number; minor: bigint };

/** What was paid in an open span and still is, by currency; null where more than `most` payouts were. */
export async function paidWithin(db: Db, span: MonthSpan, most: number): Promise<PaidSum[] | null> {
  const { rows } = await sql<{ currency: string; n: bigint; minor: bigint }>`
    select p.currency, count(*) as n, cast(sum(p.amount) as bigint) as minor
    from (select h.payout_id from history h where ${isPaidIn(span)} limit ${most + 1}) paid
    join payouts p on p.id = paid.payout_id group by p.currency order by p.currency`.execute(db);
  const sums = rows.map(({ currency, n, minor }) => ({ currency, count: Number(n), minor }));
  return sums.reduce((all, { count }) => all + count, 0) > most ? null : sums;
}

/** A condition on the history `h`: it paid the payout in the span, and nothing in the span undid that. */
export function isPaidIn({ after, through, startsAt, endsAt }: MonthSpan) {
  const within = (entry: 'h' | 'x') => {
    const [id, at] = [sql.ref(`${entry}.id`), sql.ref(`${entry}.at`)];
    if (through !== null) return sql`${id} > ${after} and ${id} <= ${through}`;
    return sql`${id} > ${after} and ${at} >= ${startsAt} and ${at} < ${endsAt}`;
  };
  return sql<boolean>`h.to_state = 'success' and h.from_state <> 'success' and ${within('h')}
    and not exists (select 1 from history x where x.payout_id = h.payout_id and x.seq > h.seq
      and x.from_state = 'success' and x.to_state <> 'success' and ${within('x')})`;
}

type Approved = {
  batch: string;
  dropped_by: string;
  approved_by: string;
  approved_at: string;
  batch_rows: string;
  currency: string;
  amount: string;
};
const approvalSheet = sheetOf<Approved>(
  asIs('batch', 'dropped_by', 'approved_by', 'approved_at', 'batch_rows', 'currency', 'amount'),
);
const storedTotals = z.record(z.string(), z.string());

/** The approvals given in a month as a sheet, the oldest first: one row a currency, with who dropped the batch. */
export async function approvalRows(
  db: Db | Trx,
  { startsAt, endsAt }: MonthSpan,
  show: (instant: string) => string,
): Promise<string[][]> {
  const rows = await db
    .selectFrom('approvals')
    .innerJoin('batches', 'batches.id', 'approvals.batch_id')
    .select(['batch_id', 'approved_by', 'approved_at', 'approvals.row_count', 'totals', 'dropped_by'])
    .where('approved_at', '>=', startsAt)
    .where('approved_at', '<', endsAt)
    .orderBy('approvals.id')
    .execute();
  return approvalSheet.all(
    rows.flatMap(({ batch_id: batch, approved_at, row_count, totals, ...people }) =>
      Object.entries(storedTotals.parse(JSON.parse(totals))).map(([currency, amount]) => {
        return {
          batch,
          ...people,
          approved_at: show(approved_at),
          batch_rows: `${row_count}`,
          currency,
          amount,
        };
      }),
    ),
  );
}

/** Whether an archive has taken entries of this span away. */
export async function isArchived(db: Db, { after }: MonthSpan): Promise<boolean> {
  const row = await db
    .selectFrom('archives')
    .select('id')
    .where('done_at', 'is not', null)
    .where('through_history', '>', after)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
