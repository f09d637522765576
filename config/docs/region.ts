/** The generated part of a page stands between two comments; everything else in it is written by hand. */
const begin = '<!-- made by npm run docs: begin -->';
const end = '<!-- made by npm run docs: end -->';

/** The page with this text as its generated part. Throws for a page without the two comments. */
export function withRegion(page: string, text: string): string {
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`expected ${begin} and ${end} in the page`);
  return `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`;
}

/** A Markdown table; a bar inside a cell would end it. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
