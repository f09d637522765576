import type { TopLevelSpec } from 'vega-lite';
import type { NamedCells } from '../../../books/sheet.ts';
import type { Banks } from '../../../core/domain/banks.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { type Html, html, trusted } from '../kit/html.ts';
import { type HtmlColumn, wideTable } from '../kit/table.ts';
import type { Draw } from './charts.ts';

/** A picture with its numbers, or one line where a picture would show nothing (one day, one reason, no money). */
export type Figured = { kind: 'picture'; drawn: Html } | { kind: 'line'; text: string };
/** Draws and describes the figures of one currency; `id` is unique on the page. */
export type Part = (
  rows: NamedCells[],
  about: { currency: string; id: string; draw: Draw; banks?: Banks | undefined },
) => Promise<Figured[]>;

/** A column of a figure's table, with the text of its cell for a row. */
export type FigureColumn = { column: HtmlColumn; cell: (row: NamedCells, index: number) => string };

/** A column of text; as it stands in the sheet, unless `cell` says otherwise. */
export function textColumn(name: string, from: string | FigureColumn['cell']): FigureColumn {
  return { column: name, cell: typeof from === 'string' ? (row) => row[from] ?? '' : from };
}

export function numberColumn(name: string, key: string): FigureColumn {
  return { column: { number: name }, cell: (row) => grouped(row[key] ?? '') };
}

/** A figure: in words, as a picture, and as the numbers behind it. */
export type Told = {
  id: string;
  currency: string;
  title: string;
  summary: string;
  columns: FigureColumn[];
  rows: NamedCells[];
};

/** A text that names its currency, in front where its amounts do not. */
function withCurrency(currency: string, text: string): string {
  return text.includes(currency) ? text : `${currency}: ${text}`;
}

/** A figure under its heading, its numbers folded; one line without a specification. */
export async function figure(draw: Draw, spec: TopLevelSpec | null, told: Told): Promise<Figured> {
  const { id, currency, title: name, summary, columns, rows } = told;
  if (spec === null) return { kind: 'line', text: withCurrency(currency, summary) };
  const title = `${currency}: ${name}`;
  const svg = trusted(await draw(spec, { id, title, summary }));
  const cells = rows.map((row, index) => columns.map(({ cell }) => cell(row, index)));
  const heads = columns.map(({ column }) => column);
  const numbers = wideTable(title, heads, cells, { seen: true });
  const caption = html`<figcaption><h3>${title}</h3><p>${summary}</p></figcaption>`;
  return {
    kind: 'picture',
    drawn: html`${caption}\n${svg}\n<details><summary>The numbers</summary>\n${numbers}</details>`,
  };
}
