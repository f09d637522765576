import type { TopLevelSpec } from 'vega-lite';
import type { Draw } from './charts.ts';
import { bareTable, type Column, escapeHtml, type Piece, wide } from './page-markup.ts';

/** What one figure tells: in words, as a picture, and as the table right behind it. */
export type Told = {
  id: string;
  title: string;
  summary: string;
  caption: string;
  columns: Column[];
  rows: Piece[][];
};

/** A figure under its heading; without a specification there is nothing to draw, and words and table say it all. */
export async function figure(draw: Draw, spec: TopLevelSpec | null, told: Told): Promise<string> {
  const { id, title, summary, caption, columns, rows } = told;
  const svg = spec === null ? '' : `${await draw(spec, { id, title, summary })}\n`;
  const content = wide(title, svg + bareTable(caption, columns, rows));
  return `<h3>${escapeHtml(title)}</h3>\n<figure>\n<figcaption>${escapeHtml(summary)}</figcaption>\n${content}</figure>\n`;
}
