import { isMoneyColumn, isNumberColumn, reportColumnKey } from '../../../books/column-kinds.ts';
import { lookOf } from './looks.ts';
import type { CellLook } from './styles.ts';

/**
 * What the cells of a column are. `money` has at least the digits of the row's currency; `time` is an ISO instant with
 * its offset, `day` an ISO date. A cell that does not read as such stays text.
 */
export type ColumnKind = 'text' | 'number' | 'money' | 'time' | 'day';
/** A column of a table; `isSummed`: its total per currency stands below the table. */
export type SheetColumn = {
  kind: ColumnKind;
  look?: ((text: string) => CellLook | undefined) | undefined;
  isSummed?: boolean;
};
export type Layout = (header: string[]) => SheetColumn[];

/** Columns of numbers that only the figures have. */
const counts = new Set('submitted settled fee_not_told median_seconds p95_seconds paid_count'.split(' '));
const moneys = new Set('submitted_amount settled_amount received paid'.split(' '));
const summed = new Set(
  'amount fee count submitted submitted_amount settled settled_amount fee_not_told received'.split(' '),
);

/** The columns of our own tables, by their names. `totals`: whether sums stand below. */
export function ownColumns(header: string[], totals: boolean): SheetColumn[] {
  return header.map((name) => {
    const kind = kindOf(name);
    return { kind, look: lookOf(name), isSummed: totals && summed.has(name) };
  });
}

function kindOf(name: string): ColumnKind {
  if (name.endsWith('_at')) return 'time';
  if (name === 'day') return 'day';
  if (moneys.has(name) || isMoneyColumn(name)) return 'money';
  return isNumberColumn(name) || counts.has(name) ? 'number' : 'text';
}

/** The columns of results.xlsx: the file's own, the first `width`, stay as they came but for the amount; then ours. */
export function resultColumns(header: string[], width: number): SheetColumn[] {
  const theirs = header.slice(0, width).map((name): SheetColumn => {
    const isAmount = reportColumnKey(name) === 'amount';
    return isAmount ? { kind: 'money', isSummed: true } : { kind: 'text' };
  });
  return [...theirs, ...ownColumns(header.slice(width), true)];
}
