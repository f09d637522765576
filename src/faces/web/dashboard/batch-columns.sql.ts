import { storedCells } from '../../../books/sheet.ts';
import { knownColumn } from '../../../core/domain/batch-rules.ts';
import { retryColumns } from '../../../core/domain/retry-file.ts';
import { keyset } from '../../../core/storage/keyset.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import type { Batch } from '../../../core/storage/tables/tables.ts';
import { batchTotals } from '../../../sending/approvals.sql.ts';

const pageSize = 2000;
/** A column with more values than this sorts nobody into groups. */
const mostValues = 50;

type Sum = { count: number; minor: bigint };
/** A column that the file has beside ours: what stands in it, with totals in minor units by currency. */
export type ColumnTotals = { column: string; values: Map<string, Map<string, Sum>> };

/** The totals of a batch by each column that has few values, such as the department. Reads every row of the file. */
export async function columnTotals(db: Db, batch: Batch): Promise<ColumnTotals[]> {
  const names = storedCells(batch.columns);
  const isOfRetry = retryColumns(names) !== null;
  let columns = names.flatMap((name, at) => {
    const column = name.trim();
    const isOurs = knownColumn(column) !== null || (isOfRetry && /^retry[ _]/i.test(column));
    return isOurs || column === '' ? [] : [{ at, column, values: new Map<string, Map<string, Sum>>() }];
  });
  if (columns.length === 0 || batch.archive_id !== null) return [];
  const pages = keyset<{ id: bigint; cells: string; currency: string; amount: bigint }>(pageSize, (last) =>
    db
      .selectFrom('payouts')
      .select(['id', 'cells', 'currency', 'amount'])
      .where('batch_id', '=', batch.id)
      .where('successor_of', 'is', null)
      .where('id', '>', last?.id ?? 0n)
      .orderBy('id')
      .limit(pageSize)
      .execute(),
  );
  for await (const page of pages) {
    for (const { cells, currency, amount } of page) {
      const row = storedCells(cells);
      for (const { at, values } of columns) add(values, (row[at] ?? '').trim(), { currency, amount });
    }
    columns = columns.filter(({ values }) => values.size <= mostValues);
    if (columns.length === 0) return [];
  }
  return columns;
}

function add(
  values: ColumnTotals['values'],
  value: string,
  { currency, amount }: { currency: string; amount: bigint },
): void {
  const sums = values.get(value) ?? new Map<string, Sum>();
  values.set(value, sums);
  const { count, minor } = sums.get(currency) ?? { count: 0, minor: 0n };
  sums.set(currency, { count: count + 1, minor: minor + amount });
}

/** The batch of the same columns that was taken in last before this one, with its totals in minor units. */
export async function findLastAlike(db: Db, { id, columns, created_at }: Batch) {
  const batch = await db
    .selectFrom('batches')
    .select(['id', 'created_at', 'row_count'])
    .where('columns', '=', columns)
    .where('phase', '=', 'loaded')
    .where('id', '<>', id)
    .where('created_at', '<=', created_at)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return batch && { ...batch, totals: await batchTotals(db, batch.id) };
}
