/** The columns whose plain decimals stay numbers; every other column is text. */
const numeric = new Set('amount fee service_amount expected actual difference count row age_days'.split(' '));

export function isNumberColumn(name: string): boolean {
  return numeric.has(reportColumnKey(name));
}

/** The number columns that hold no money. */
const counting = new Set('count row age_days'.split(' '));

/** True for a column of plain decimals that are money of the row's currency. */
export function isMoneyColumn(name: string): boolean {
  return isNumberColumn(name) && !counting.has(reportColumnKey(name));
}

/** A header name as intake compares it: case, spaces and underscores do not matter (`Account Number`). */
export function reportColumnKey(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '_');
}
