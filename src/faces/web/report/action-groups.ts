import type { NamedCells } from '../../../books/sheet.ts';

/** Open discrepancies that one line names: one, or several that differ in nothing but their payout. */
export type Item = [NamedCells, ...NamedCells[]];

/** So many equal ones make a group. */
const fewest = 3;

/** The lines of the table in their order. A grave one, and one with a difference of money, always stands alone. */
export function itemsOf(rows: readonly NamedCells[]): Item[] {
  const groups = Map.groupBy(rows, keyOf);
  return rows.flatMap((row): Item[] => {
    const group = groups.get(keyOf(row)) ?? [];
    if (row.severity === 'high' || row.difference !== '' || group.length < fewest) return [[row]];
    return row === group[0] ? [[row, ...group.slice(1)]] : [];
  });
}

function keyOf({ severity, kind, currency, expected, actual, difference, action }: NamedCells): string {
  return JSON.stringify([severity, kind, currency, expected, actual, difference, action]);
}
