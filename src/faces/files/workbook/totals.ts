import { Big } from 'big.js';
import { reportColumnKey } from '../../../books/column-kinds.ts';
import { byText } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import { exponentOf } from '../../../core/domain/money.ts';
import type { SheetColumn } from './columns.ts';

/** Beyond this many currencies a table has no totals: the service decides how many it lists. */
const mostCurrencies = 50;
const decimal = /^-?\d+(\.\d+)?$/;

/** A column's sum; null where a cell is no number, since a sum without it would be wrong. */
type Sums = { rows: number; sums: (Big | null)[] };

/**
 * Adds up the summed columns of a table per currency, exactly, row after row. Memory depends on the number of currencies
 * alone. `rows` gives a line for each: none without summed columns or a column `currency`.
 */
export function createTotals(header: string[], columns: SheetColumn[]) {
  const currencyAt = header.findIndex((name) => reportColumnKey(name) === 'currency');
  const places = columns.flatMap(({ isSummed }, index) => (isSummed === true ? [index] : []));
  const isWanted = currencyAt !== -1 && places.length > 0;
  const labelAt = header.findIndex((_, index) => !places.includes(index));
  const all = new Map<string, Sums>();

  function add(cells: string[]): void {
    if (!isWanted || all.size > mostCurrencies) return;
    const currency = cells[currencyAt] ?? '';
    const known = all.get(currency) ?? { rows: 0, sums: places.map(() => new Big(0)) };
    known.rows += 1;
    for (const [index, place] of places.entries()) {
      const text = cells[place] ?? '';
      if (text !== '') known.sums[index] = plus(known.sums[index] ?? null, text);
    }
    all.set(currency, known);
  }

  function rows(): string[][] {
    if (all.size > mostCurrencies) return [];
    return [...all]
      .toSorted(([a], [b]) => byText(a, b))
      .map(([currency, { rows: count, sums }]) => {
        const cells = header.map(() => '');
        for (const [index, place] of places.entries())
          cells[place] = shown(sums[index], currency, columns[place]);
        cells[labelAt] = `Total ${currency}, ${counted(count, 'row')}`;
        return cells;
      });
  }

  return { add, rows };
}

function plus(sum: Big | null, text: string): Big | null {
  return sum === null || !decimal.test(text) ? null : sum.plus(text);
}

/** With the digits of the currency at least; more where a part has more. */
function shown(sum: Big | null | undefined, currency: string, column: SheetColumn | undefined): string {
  if (!sum) return '';
  const text = sum.toFixed();
  const digits = column?.kind === 'money' ? (exponentOf(currency) ?? 0) : 0;
  return (text.split('.')[1] ?? '').length >= digits ? text : sum.toFixed(digits);
}
