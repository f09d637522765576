import { type Html, html } from './html.ts';

/** The name of a column. One of numbers stands at the right. One of acts holds buttons or bars, and paper leaves it out. */
export type HtmlColumn = string | { number: string } | { act: string };
/** What stands in a cell; `look` is a class for it. */
export type HtmlCell = Html | string | { content: Html | string; look: string };

/** `name`: the caption where it is `seen`, otherwise only spoken. `look`: a class. */
type About = { name: string; seen?: boolean; look?: string };

/** A table of bodies, which are of {@link tableBody} or hold rows of {@link tableRow}. */
export function htmlTable(
  { name, seen = false, look = '' }: About,
  columns: readonly HtmlColumn[],
  bodies: Html,
): Html {
  const head = columns.map((one) => html`<th scope="col"${looks(columnLook(one))}>${columnName(one)}</th>`);
  return html`<table${looks(look)}${!seen && html` aria-label="${name}"`}>
${seen && html`<caption>${name}</caption>\n`}<thead><tr>${head}</tr></thead>
${bodies}</table>\n`;
}

export function tableBody(rows: readonly Html[]): Html {
  return html`<tbody>\n${rows}</tbody>\n`;
}

/** A row, which its first cell heads. On a narrow screen it is a block, in which each cell bears its column's name. */
export function tableRow(columns: readonly HtmlColumn[], cells: readonly HtmlCell[], look = ''): Html {
  const [header, ...others] = cells.map((cell, index) => {
    const column = columns[index] ?? '';
    const isLooked = typeof cell === 'object' && 'look' in cell;
    const own = looks(columnLook(column), isLooked ? cell.look : '');
    const content = isLooked ? cell.content : cell;
    const label = html` data-label="${columnName(column)}"`;
    if (index > 0) return html`<td${own}${label}>${content}</td>`;
    // A name says what it is; a number does not.
    return html`<th scope="row"${own}${typeof column !== 'string' && label}>${content}</th>`;
  });
  return html`<tr${looks(look)}>${header ?? ''}${others}</tr>\n`;
}

/** A part that scrolls by itself, also by keyboard, when it is too wide for the screen. */
export function wide(name: string, content: Html, look = ''): Html {
  return html`<div${looks(look, 'wide')} role="region" aria-label="${name}" tabindex="0">\n${content}</div>\n`;
}

/** A whole table of such rows, in a part that scrolls. */
export function wideTable(
  name: string,
  columns: readonly HtmlColumn[],
  rows: readonly (readonly HtmlCell[])[],
  { seen = false, look = '' } = {},
): Html {
  const body = tableBody(rows.map((cells) => tableRow(columns, cells)));
  return wide(name, htmlTable({ name, seen, look }, columns, body));
}

function columnName(column: HtmlColumn): string {
  if (typeof column === 'string') return column;
  return 'act' in column ? column.act : column.number;
}

function columnLook(column: HtmlColumn): string {
  if (typeof column === 'string') return '';
  return 'act' in column ? 'act' : 'number';
}

function looks(...names: string[]): Html {
  const all = names.filter((name) => name !== '');
  return all.length === 0 ? html`` : html` class="${all.join(' ')}"`;
}
