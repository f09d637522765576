import { columnKey, knownColumn } from '../core/domain/batch-rules.ts';
import { retryColumns } from '../core/domain/retry-file.ts';
import { feeText } from './fee-sums.ts';
import { money } from './presentation.ts';
import { byText, type NamedCells, sheetOf } from './sheet.ts';

/** A column with more values than this sorts nobody into groups. */
const mostValues = 50;

/**
 * What stands in a column for one currency: `count` and `amount` of the file's rows, how much of them is paid, and the
 * reported fees of what is paid (`feeUnits`).
 */
type ColumnSum = { count: bigint; amount: bigint; paidCount: bigint; paid: bigint; fees: bigint };
type Sums = Map<string, ColumnSum>;

/** The totals by a column that the file has beside ours: by value, then by currency, in minor units. */
export type ColumnTotals = { column: string; values: { value: string; currency: string; sum: ColumnSum }[] };

/**
 * A payout as the totals count it. `isRow`: it stands in the file, and pays no other row of it again. `fee`: as
 * `feeUnits` reads it.
 */
export type TotalledPayout = {
  currency: string;
  amount: bigint;
  isRow: boolean;
  isPaid: boolean;
  fee?: bigint | null;
};

type Tallied = { column: string; values: Map<string, Sums> };

/**
 * Adds up payouts by each further column of their files that has few values, such as the department. `of` takes the
 * header of a file. Columns of several files are one where their names are. Memory depends on the few values alone.
 * `unique`: columns that have each value once, so that sums by them say nothing.
 */
export function createColumnTally(unique: readonly string[]) {
  const all: Sums = new Map();
  /** Null: a column with too many values. */
  const tallied = new Map<string, Tallied | null>();

  function of(header: readonly string[]): (cells: readonly string[], payout: TotalledPayout) => void {
    const places = furtherColumns(header, unique).map(({ at, column }) => {
      const key = columnKey(column);
      if (!tallied.has(key)) tallied.set(key, { column, values: new Map() });
      return { at, key };
    });
    return (cells, payout) => {
      add(all, payout);
      for (const { at, key } of places) {
        const one = tallied.get(key);
        if (!one) continue;
        const value = (cells[at] ?? '').trim();
        const sums = one.values.get(value) ?? new Map();
        add(one.values.set(value, sums).get(value) ?? sums, payout);
        if (one.values.size > mostValues) tallied.set(key, null);
      }
    };
  }

  /** The columns in the order of the file. Rows of files without the column stand below, so that each column adds up. */
  function columns(): ColumnTotals[] {
    return [...tallied.values()].flatMap((one) => (one && one.values.size > 0 ? [concluded(one)] : []));
  }

  function concluded({ column, values }: Tallied): ColumnTotals {
    const named = [...values]
      .toSorted(([a], [b]) => byText(a, b))
      .flatMap(([value, sums]) => inOrder(sums).map((one) => ({ value: value || '(empty)', ...one })));
    const rest = inOrder(all).flatMap(({ currency, sum }) => {
      const left = named.reduce((some, one) => (one.currency === currency ? less(some, one.sum) : some), sum);
      return left.count + left.paidCount === 0n ? [] : [{ value: '(not in the file)', currency, sum: left }];
    });
    return { column, values: [...named, ...rest] };
  }

  return { of, columns, all: () => inOrder(all) };
}
export type ColumnTally = ReturnType<typeof createColumnTally>;

/** The columns that are not ours and bear a name, without those of `intake.unique_columns`. */
export function furtherColumns(
  header: readonly string[],
  unique: readonly string[],
): { at: number; column: string }[] {
  const isOfRetry = retryColumns(header) !== null;
  const besides = new Set(unique.map(columnKey));
  return header.flatMap((name, at) => {
    const column = name.trim();
    const isOurs = knownColumn(column) !== null || (isOfRetry && /^retry[ _]/i.test(column));
    return isOurs || column === '' || besides.has(columnKey(column)) ? [] : [{ at, column }];
  });
}

function add(sums: Sums, { currency, amount, isRow, isPaid, fee = null }: TotalledPayout): void {
  const known = sums.get(currency) ?? { count: 0n, amount: 0n, paidCount: 0n, paid: 0n, fees: 0n };
  if (isRow) {
    known.count += 1n;
    known.amount += amount;
  }
  if (isPaid) {
    known.paidCount += 1n;
    known.paid += amount;
    known.fees += fee ?? 0n;
  }
  sums.set(currency, known);
}

const less = (a: ColumnSum, b: ColumnSum): ColumnSum => ({
  count: a.count - b.count,
  amount: a.amount - b.amount,
  paidCount: a.paidCount - b.paidCount,
  paid: a.paid - b.paid,
  fees: a.fees - b.fees,
});

const inOrder = (sums: Sums): { currency: string; sum: ColumnSum }[] =>
  [...sums].toSorted(([a], [b]) => byText(a, b)).map(([currency, sum]) => ({ currency, sum }));

type ColumnRow = ColumnTotals['values'][number] & { column: string };

const rowsOf = (columns: readonly ColumnTotals[]): ColumnRow[] =>
  columns.flatMap(({ column, values }) => values.map((one) => ({ column, ...one })));

const batchSheet = sheetOf<ColumnRow & { batch: string }>({
  batch: ({ batch }) => batch,
  column: ({ column }) => column,
  value: ({ value }) => value,
  currency: ({ currency }) => currency,
  count: ({ sum }) => `${sum.count}`,
  amount: ({ sum, currency }) => money(sum.amount, currency),
  paid_count: ({ sum }) => `${sum.paidCount}`,
  paid: ({ sum, currency }) => money(sum.paid, currency),
});

/** The totals of a batch as a sheet, the header first. */
export function batchColumnRows(batch: string, columns: readonly ColumnTotals[]): string[][] {
  return batchSheet.all(rowsOf(columns).map((one) => ({ batch, ...one })));
}

const paidSheet = sheetOf<ColumnRow & { payees?: bigint }>({
  column: ({ column }) => column,
  value: ({ value }) => value,
  currency: ({ currency }) => currency,
  count: ({ sum }) => `${sum.paidCount}`,
  amount: ({ sum, currency }) => money(sum.paid, currency),
  fees: ({ sum, currency }) => feeText(sum.fees, currency),
  payees: ({ payees }) => (payees === undefined ? '' : `${payees}`),
});

/** The same sheet from its rows as they are read. */
export function paidColumnSheet(rows: readonly NamedCells[]): string[][] {
  return [paidSheet.header, ...rows.map((row) => paidSheet.header.map((name) => row[name] ?? ''))];
}

/** The name of the first part of the sheet of a month: all that was paid. No column of a file has it. */
export const allPaid = '';

/**
 * What was paid, in all and by each column, as a sheet, the header first. `payees`: how many accounts got it, by
 * currency.
 */
export function paidColumnRows(tally: ColumnTally, payees: ReadonlyMap<string, bigint>): string[][] {
  const whole = tally.all().map((one) => {
    return { column: allPaid, value: 'all payouts', ...one, payees: payees.get(one.currency) ?? 0n };
  });
  return paidSheet.all([...whole, ...rowsOf(tally.columns())]);
}
