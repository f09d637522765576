import { type RawBuilder, sql } from 'kysely';
import { jsonText } from '../core/storage/dialect.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { type ColumnTotals, createColumnTally, furtherColumns, paidColumnRows } from './column-totals.ts';
import { feeUnits } from './fee-sums.ts';
import { isPaidIn, type MonthSpan, paidPage } from './month-facts.sql.ts';
import { storedCells } from './sheet.ts';

const pageSize = 2000;

/** True for a payout that pays another row of its own batch again: the file has no row of it. */
export function isAddedRow(): RawBuilder<bigint> {
  return sql<bigint>`case when payouts.successor_of is null then 0 else (select count(*) from payouts e
    where e.id = payouts.successor_of and e.batch_id = payouts.batch_id) end`;
}

/**
 * The totals of a batch by each column that has few values. Reads every row of the file. `unique`:
 * `intake.unique_columns`.
 */
export async function columnTotals(db: Db, batch: Batch, unique: readonly string[]): Promise<ColumnTotals[]> {
  const header = storedCells(batch.columns);
  if (furtherColumns(header, unique).length === 0 || batch.archive_id !== null) return [];
  const tally = createColumnTally(unique);
  const add = tally.of(header);
  const pages = keyset<{
    id: bigint;
    cells: string;
    currency: string;
    amount: bigint;
    state: string;
    added: bigint;
  }>(pageSize, (last) =>
    db
      .selectFrom('payouts')
      .select(['id', 'cells', 'currency', 'amount', 'state', isAddedRow().as('added')])
      .where('batch_id', '=', batch.id)
      .where('id', '>', last?.id ?? 0n)
      .orderBy('id')
      .limit(pageSize)
      .execute(),
  );
  for await (const page of pages)
    for (const { cells, state, added, ...payout } of page)
      add(storedCells(cells), { ...payout, isRow: BigInt(added) === 0n, isPaid: state === 'success' });
  return tally.columns();
}

/** The fee of the payout `p`: of an open month the one that is known, of a closed one what its own entries reported. */
function feeIn({ through }: MonthSpan): RawBuilder<string | null> {
  if (through === null) return sql`p.fee`;
  const fee = jsonText(sql`f.detail`, 'fee');
  return sql`(select ${fee} from history f where f.payout_id = p.id and f.id <= ${through}
    and f.detail like '%"fee":%' and ${fee} is not null order by f.seq desc limit 1)`;
}

/**
 * What was paid in a month, in all and by each column of its files that has few values. Reads every paid row. `unique`:
 * `intake.unique_columns`.
 */
export async function paidByColumn(
  db: Db | Trx,
  span: MonthSpan,
  unique: readonly string[],
): Promise<string[][]> {
  const tally = createColumnTally(unique);
  const adders = new Map<string, ReturnType<typeof tally.of>>();
  const adderOf = async (batch: string): Promise<ReturnType<typeof tally.of>> => {
    const known = adders.get(batch);
    if (known) return known;
    const row = await db.selectFrom('batches').select('columns').where('id', '=', batch).executeTakeFirst();
    const found = tally.of(row ? storedCells(row.columns) : []);
    adders.set(batch, found);
    return found;
  };
  type Row = {
    entry: bigint;
    paid_at: string;
    batch: string;
    cells: string;
    currency: string;
    amount: bigint;
    fee: string | null;
  };
  const pages = keyset<Row>(pageSize, async (last) => {
    const { beyond, order } = paidPage(span, last ?? null, 'asc');
    const { rows } =
      await sql<Row>`select h.id as entry, h.at as paid_at, p.batch_id as batch, p.cells, p.currency, p.amount,
        ${feeIn(span)} as fee
      from history h join payouts p on p.id = h.payout_id
      where ${isPaidIn(span)} ${beyond} order by ${order} limit ${pageSize}`.execute(db);
    return rows;
  });
  for await (const page of pages)
    for (const { batch, cells, currency, amount, fee } of page)
      (await adderOf(batch))(storedCells(cells), {
        ...{ currency, amount, isRow: false, isPaid: true },
        fee: feeUnits(fee),
      });
  return paidColumnRows(tally, await payeesIn(db, span));
}

/** How many accounts were paid in a month, by currency. */
async function payeesIn(db: Db | Trx, span: MonthSpan): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ currency: string; n: bigint }>`
    select p.currency, count(distinct p.account_number || ' ' || p.bank_code) as n
    from history h join payouts p on p.id = h.payout_id
    where ${isPaidIn(span)} group by p.currency`.execute(db);
  return new Map(rows.map(({ currency, n }) => [currency, BigInt(n)]));
}
