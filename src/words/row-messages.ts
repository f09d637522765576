import { grouped } from '../core/domain/counted.ts';

export type RowMessage = { row: number; text: string };

/** One message, and the rows that have it, in order. */
export type MessageGroup = { text: string; rows: number[] };

/** Messages with the same text become one, the most frequent first. Equally frequent ones keep their order. */
export function groupMessages(messages: readonly RowMessage[]): MessageGroup[] {
  const groups = Map.groupBy(messages, ({ text }) => text);
  return [...groups]
    .map(([text, all]) => ({ text, rows: all.map(({ row }) => row) }))
    .toSorted((a, b) => b.rows.length - a.rows.length);
}

/** `row 4`, `rows 4, 9 and 12`, `rows 4, 9, 12 and 35 more`. */
export function rowNumbersText(rows: readonly number[]): string {
  return `${rows.length === 1 ? 'row' : 'rows'} ${firstOf(rows.map(String))}`;
}

/** The first names and the number of the others: `A, B, C and 35 more`. */
export function firstOf(names: readonly string[], most = 3): string {
  // "and 1 more" would be as long as the name.
  const shown = names.length <= most + 1 ? names : names.slice(0, most);
  const rest = names.length - shown.length;
  if (rest > 0) return `${shown.join(', ')} and ${grouped(`${rest}`)} more`;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}
