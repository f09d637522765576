import { type RawBuilder, sql } from 'kysely';
import { columnKey } from '../core/domain/batch-rules.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { movedNothing } from '../core/ledger/came-back.ts';
import { shownValue } from '../core/ledger/shown-value.ts';
import type { Config } from '../core/settings/settings.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { linesOfBatch } from '../watching/evidence/lineage.sql.ts';
import { isSinceLastSent } from './later-likes.sql.ts';
import type { ValueAgain } from './values-again.sql.ts';

type Settings = Pick<Config, 'intake' | 'reports'>;
/** A payout `n` with a value in a unique column that another payout has. */
type ValueSince = ValueAgain & { id: bigint; batch: string };

/** Finds these payouts whose values in unique columns another payout may have paid since they were last sent. */
export async function valuesSince(
  trx: Trx,
  ids: readonly bigint[],
  settings: Settings,
): Promise<ValueSince[]> {
  return findValues(trx, settings, { of: sql`n.id in ${idList(ids)}`, unseen: isSinceLastSent });
}

type First = { first: ValueAgain | undefined; count: number };

/** The first payout that a release lets go, and whose value another came with since its intake; and how many there are. */
export function valuesMeanwhile(trx: Trx, batch: Pick<Batch, 'id'>, settings: Settings): Promise<First> {
  const mayGo = sql<boolean>`n.state in ('held', 'ready')`;
  return valuesOfBatch(trx, batch, settings, sql<boolean>`(${mayGo} and p.id > n.id)`);
}

/**
 * The same for a batch that is decided now: what came to nothing may have turned out paid since its row was read (P14). A
 * row that pays a payout again repeats its value rightly (P20).
 */
export function valuesByNow(trx: Trx, batch: Pick<Batch, 'id'>, settings: Settings): Promise<First> {
  const lines = sql`(select line.id, line.ancestor from ${linesOfBatch(batch.id)} line)`;
  return valuesOfBatch(trx, batch, settings, sql<boolean>`(n.id, p.id) not in ${lines}`);
}

async function valuesOfBatch(
  trx: Trx,
  { id }: Pick<Batch, 'id'>,
  settings: Settings,
  isNew: RawBuilder<boolean>,
): Promise<First> {
  const of = sql<boolean>`n.batch_id = ${id}`;
  const unseen = sql<boolean>`p.batch_id <> n.batch_id and not ${movedNothing} and ${isNew}`;
  const [first] = await findValues(trx, settings, { of, unseen, limit: 1 });
  if (!first) return { first, count: 0 };
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from (
    select distinct n.id, v.column_key ${sameValues(settings, { of, unseen })}) found`.execute(trx);
  return { first, count: Number(rows[0]?.count ?? 0n) };
}

type Wanted = { of: RawBuilder<boolean>; unseen: RawBuilder<boolean>; limit?: number };

/** The cross joins keep SQLite from reading all values first. */
function sameValues({ intake }: Settings, { of, unseen }: Wanted): RawBuilder<unknown> {
  const keys = intake.uniqueColumns.map(columnKey);
  return sql`from payouts n cross join payout_values v cross join payout_values w cross join payouts p
    join batches b on b.id = p.batch_id
    where ${of} and v.payout_id = n.id and v.column_key in (${sql.join(keys)})
      and w.column_key = v.column_key and w.value = v.value and p.id = w.payout_id and ${unseen}`;
}

async function findValues(trx: Trx, settings: Settings, wanted: Wanted): Promise<ValueSince[]> {
  if (settings.intake.uniqueColumns.length === 0) return [];
  type Own = { id: bigint; row_number: bigint; reference: string; batch_id: string; cells: string };
  type Row = Own & { column_key: string; value: string; columns: string } & Record<
      'earlier' | 'earlier_at',
      string
    >;
  const { rows } = await sql<Row & { earlier_batch: string }>`
    select n.id, n.row_number, n.reference, n.batch_id, n.cells, v.column_key, v.value,
      (select columns from batches where batches.id = n.batch_id) as columns,
      p.reference as earlier, p.batch_id as earlier_batch, b.created_at as earlier_at
    ${sameValues(settings, wanted)}
    order by n.row_number, n.id, v.column_key, p.id desc ${wanted.limit ? sql`limit ${wanted.limit}` : sql``}`.execute(
    trx,
  );
  return rows.map((one) => ({
    id: one.id,
    batch: one.batch_id,
    row: Number(one.row_number),
    reference: one.reference,
    ...shownValue(one),
    before: {
      reference: one.earlier,
      batch: one.earlier_batch,
      day: dayOf(one.earlier_at, settings.reports.timezone),
    },
  }));
}
