import { z } from 'zod';
import { columnKey } from '../domain/batch-rules.ts';

const texts = z.array(z.string());

/** The column and the value as they stand in the file; folded where a row has no such cell. Both lists are JSON. */
export function shownValue(one: { columns: string; cells: string; column_key: string; value: string }): {
  column: string;
  value: string;
} {
  const columns = texts.parse(JSON.parse(one.columns));
  const at = columns.findIndex((name) => columnKey(name.trim()) === one.column_key);
  const cell = (texts.parse(JSON.parse(one.cells))[at] ?? '').trim().slice(0, 100);
  return {
    column: columns[at]?.trim() ?? one.column_key,
    value: cell === '' ? one.value : cell,
  };
}
