import type { TopLevelSpec } from 'vega-lite';
import { grouped } from '../../domain/counted.ts';
import type { NamedCells } from '../sheet.ts';
import type { Draw } from './charts.ts';
import { bareTable, type Column, escapeHtml, wide } from './page-markup.ts';

/** A column of a figure's table, with the text of its cell for a row. */
export type Shown = Column & { cell: (row: NamedCells, index: number) => string };

/** A column of text; as it stands in the sheet, unless `cell` says otherwise. */
export function textColumn(name: string, from: string | Shown['cell']): Shown {
  return { name, cell: typeof from === 'string' ? (row) => row[from] ?? '' : from };
}

/** A column of numbers, grouped by thousands. */
export function numberColumn(name: string, key: string): Shown {
  return { name, number: true, cell: (row) => grouped(row[key] ?? '') };
}

/** A figure: in words, as a picture, and as the table below it. */
export type Told = {
  id: string;
  title: string;
  summary: string;
  caption: string;
  columns: Shown[];
  rows: NamedCells[];
};

/** A figure under its heading. Without a specification it has words and table only. */
export async function figure(draw: Draw, spec: TopLevelSpec | null, told: Told): Promise<string> {
  const { id, title, summary, caption, columns, rows } = told;
  const svg = spec === null ? '' : `${await draw(spec, { id, title, summary })}\n`;
  const cells = rows.map((row, index) => columns.map(({ cell }) => cell(row, index)));
  const content = wide(title, svg + bareTable(caption, columns, cells));
  return `<h3>${escapeHtml(title)}</h3>\n<figure>\n<figcaption>${escapeHtml(summary)}</figcaption>\n${content}</figure>\n`;
}
