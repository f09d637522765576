import { sql } from 'kysely';
import { columnKey } from '../core/domain/batch-rules.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { movedNothing } from '../core/ledger/came-back.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Config } from '../core/settings/settings.ts';
import { field, integerField, rowsOf } from '../core/storage/bulk.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import { firstSeen } from './first-seen.ts';

import type { PaysAgain } from './retries.ts';
import { type GoodRow, meantCells } from './rows.ts';

/** A row whose value in a column of `intake.unique_columns` an earlier row of its file has, or a payout of another batch. */
export type ValueAgain = {
  row: number;
  /** Empty where the intake makes one. */
  reference: string;
  column: string;
  value: string;
  before: { row: number } | { reference: string; batch: string; day: string };
};

type Value = { row: number; reference: string; key: string; column: string; value: string; shown: string };

/** The values of a row that must be unique; empty cells have none. Case and spaces make no other value. */
function valuesIn({ row, cells, parsed, retry }: GoodRow, columns: readonly UniqueColumn[]): Value[] {
  const reference = parsed.reference ?? '';
  const meant = meantCells(cells, retry);
  return columns.flatMap(({ at, key, column }) => {
    const shown = (meant[at] ?? '').trim();
    const value = shown.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ');
    return value === '' ? [] : [{ row, reference, key, column, value, shown: shown.slice(0, 100) }];
  });
}

type UniqueColumn = { at: number; key: string; column: string };

/** Where a file has the columns of `intake.unique_columns`. */
export function uniqueColumns(
  columns: readonly string[],
  { intake }: Pick<Config, 'intake'>,
): UniqueColumn[] {
  const wanted = new Set(intake.uniqueColumns.map(columnKey));
  return columns.flatMap((name, at) => {
    const key = columnKey(name.trim());
    return wanted.has(key) ? [{ at, key, column: name.trim() }] : [];
  });
}

/**
 * Returns a function that finds the rows of the next part of a file whose value was paid before, or stands in an earlier
 * row. A row that pays a payout again repeats the value of that payout rightly, and of no other (P20).
 */
export function createValueCheck({ ledger, config }: { ledger: Pick<Ledger, 'db'>; config: Config }) {
  const seen = firstSeen();
  return async (
    rows: readonly GoodRow[],
    columns: readonly string[],
    plans: ReadonlyMap<number, PaysAgain> = new Map(),
  ): Promise<ValueAgain[]> => {
    const unique = uniqueColumns(columns, config);
    if (unique.length === 0) return [];
    const values = rows.flatMap((row) => valuesIn(row, unique));
    const paid = await paidValues(ledger, values, config.reports.timezone);
    return values.flatMap(({ key, value, shown, ...where }): ValueAgain[] => {
      const earlier = seen(`${key}\n${value}`, where.row);
      const line = plans.get(where.row)?.replaces.line;
      const other = paid.get(`${key}\n${value}`)?.findLast(({ id }) => !line?.has(id));
      const before = other?.before ?? (earlier === null ? null : { row: earlier });
      return before ? [{ ...where, value: shown, before }] : [];
    });
  };
}

async function paidValues({ db }: Pick<Ledger, 'db'>, values: readonly Value[], zone: string) {
  const given = values.map(({ key, value }) => ({ key, value }));
  type Paid = { id: bigint; column_key: string; value: string; reference: string; batch: string; at: string };
  const { rows } =
    await sql<Paid>`select p.id, v.column_key, v.value, p.reference, p.batch_id as batch, b.created_at as at
    from ${rowsOf(given)} as row cross join payout_values v join payouts p on p.id = v.payout_id
      join batches b on b.id = p.batch_id
    where v.column_key = ${field('key')} and v.value = ${field('value')} and not ${movedNothing}
    order by b.created_at`.execute(db);
  const found = rows.map(({ id, column_key, value, reference, batch, at }) => {
    return { id, key: `${column_key}\n${value}`, before: { reference, batch, day: dayOf(at, zone) } };
  });
  return Map.groupBy(found, ({ key }) => key);
}

/** Keeps the values of rows that were just added to a loading batch, so that later files can be compared with them. */
export async function recordValues(
  trx: Trx,
  batch: string,
  rows: readonly GoodRow[],
  columns: readonly UniqueColumn[],
): Promise<void> {
  const values = rows.flatMap((row) => valuesIn(row, columns));
  if (values.length === 0) return;
  const given = values.map(({ row, key, value }) => ({ row: String(row), key, value }));
  await sql`insert into payout_values (column_key, value, payout_id)
    select ${field('key')}, ${field('value')}, p.id from ${rowsOf(given)} as row
      cross join payouts p where p.batch_id = ${batch} and p.row_number = ${integerField('row')}`.execute(
    trx,
  );
}

/** The reason to hold a batch with such rows, if it has any. */
export function valueAgainReason(
  first: ValueAgain | undefined,
  count: number,
): Extract<HoldReason, { kind: 'value_again' }>[] {
  if (!first) return [];
  const { row, column, value, before } = first;
  return [{ kind: 'value_again', row, column, value, before, others: count - 1 }];
}
