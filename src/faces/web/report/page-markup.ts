/** A piece of a page: plain text, which is escaped where it is put in, or markup made here from escaped parts. */
export type Piece = string | { html: string };
export type PageColumn = { name: string; number?: boolean };

/** Text as it stands in markup and in quoted attributes; text from outside reaches a page only through this. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll(notXml, '\ufffd');
}
/** Characters that no document may hold, and marks that change the direction of text (a name may hold any). */
const notXml = /[^\P{Cc}\t\n\r]|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

export function markup(piece: Piece): string {
  return typeof piece === 'string' ? escapeHtml(piece) : piece.html;
}

/** A part that scrolls by itself, also by keyboard, when it is too wide for the screen. */
export function wide(name: string, content: string): string {
  return `<div class="wide" role="region" aria-label="${escapeHtml(name)}" tabindex="0">\n${content}</div>\n`;
}

/**
 * A table whose first cell of each row is the row's header; put it into something {@link wide}. On a narrow screen each
 * row becomes a block, in which every cell bears the name of its column.
 */
export function bareTable(caption: string, columns: PageColumn[], rows: Piece[][]): string {
  const kind = (index: number): string => (columns[index]?.number === true ? ' class="number"' : '');
  const head = columns.map(({ name }, index) => `<th scope="col"${kind(index)}>${escapeHtml(name)}</th>`);
  const body = rows.map((cells) => {
    const [first = '', ...rest] = cells;
    const label = (index: number): string => escapeHtml(columns[index]?.name ?? '');
    const others = rest.map(
      (cell, index) => `<td${kind(index + 1)} data-label="${label(index + 1)}">${markup(cell)}</td>`,
    );
    return `<tr><th scope="row"${kind(0)}>${markup(first)}</th>${others.join('')}</tr>\n`;
  });
  return `<table>\n<caption>${escapeHtml(caption)}</caption>
<thead><tr>${head.join('')}</tr></thead>
<tbody>\n${body.join('')}</tbody>\n</table>\n`;
}

export function pageTable(caption: string, columns: PageColumn[], rows: Piece[][]): string {
  return wide(caption, bareTable(caption, columns, rows));
}

/** A section of the page with its heading; `id` is where links lead. */
export function pageSection(id: string, title: string, content: string): string {
  return `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${escapeHtml(title)}</h2>\n${content}</section>\n`;
}

export function paragraph(...pieces: Piece[]): string {
  return `<p>${pieces.map(markup).join('')}</p>\n`;
}

/** The spoken name holds `of`, so that a list of all links on the page still makes sense. */
export function link(path: string, name: string, of?: string): string {
  const href = path.split('/').map(encodeURIComponent).join('/');
  const spoken = of === undefined ? '' : ` aria-label="${escapeHtml(`${name} of ${of}`)}"`;
  return `<a href="${escapeHtml(href)}"${spoken}>${escapeHtml(name)}</a>`;
}

const signs: Record<string, string> = { high: '▲', medium: '◆', low: '●' };

/** How grave, in words, with a sign of its own shape: the colour only repeats it. */
export function badge(severity: string, text = severity): Piece {
  const sign = signs[severity];
  if (sign === undefined) return text;
  return {
    html: `<span class="badge ${severity}"><span aria-hidden="true">${sign}</span> ${escapeHtml(text)}</span>`,
  };
}

/** A whole page that loads nothing. `script`: the only one that may run, with its source for the policy. */
export function pageFrame(
  title: string,
  style: string,
  body: string,
  script?: { text: string; source: string },
): string {
  const policy = script ? `; script-src ${script.source}` : '';
  const run = script ? `<script>${script.text}</script>\n` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${policy}">
<title>${escapeHtml(title)}</title>
<style>\n${style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${body}${run}</body>
</html>
`;
}
