import type { Banks } from '../../../core/domain/banks.ts';
import { type Html, html } from './html.ts';

/** A section of the page with its heading; `id` is where links lead. */
export function pageSection(id: string, title: string, content: Html | readonly Html[]): Html {
  return html`<section id="${id}">\n<h2>${title}</h2>\n${content}</section>\n`;
}

/** The spoken name holds `of`, so that a list of all links on the page still makes sense. */
export function link(path: string, name: string, of?: string): Html {
  const href = path.split('/').map(encodeURIComponent).join('/');
  return html`<a href="${href}"${of !== undefined && html` aria-label="${name} of ${of}"`}>${name}</a>`;
}

/** A link for a reader who may open it. For another one it is plain words: the page would turn the reader away. */
export function way(
  reader: { mayOpen(address: string): boolean },
  address: string,
  name: Html | string,
  look = '',
): Html {
  if (!reader.mayOpen(address)) return html`${name}`;
  return html`<a${look !== '' && html` class="${look}"`} href="${address}">${name}</a>`;
}

/** The name of a batch on a page of the disk, which has no page for it; the desk has one, and makes this a link to it. */
export function batchMark(id: string): Html {
  return html`<span data-batch="${encodeURIComponent(id)}">${id}</span>`;
}

/** Pieces, one below the other, or with something else between them. */
export function separated(pieces: readonly (Html | string)[], by: Html | string = html`<br>`): Html {
  return html`${pieces.map((piece, index) => html`${index > 0 && by}${piece}`)}`;
}

/** A name or number of one word, which stands on one line, so that a reader can compare it; a very long one may break. */
export function whole(text: string): Html {
  return isWhole(text) ? html`<span class="whole">${text}</span>` : html`${text}`;
}

export const isWhole = (text: string): boolean => /^\S{1,40}$/.test(text);

/** A whole digest. It may break between groups of eight, and is copied as one word. */
export function digestMark(digest: string): Html {
  return html`<code class="digest">${separated(digest.match(/.{1,8}/g) ?? [], html`<wbr>`)}</code>`;
}

/** The code of a bank, and its name where `intake.banks_file` knows it. */
export function bankText(code: string, { banks }: { banks?: Banks | undefined }): string {
  const name = banks?.nameOf(code);
  return name === undefined ? code : `${code} ${name}`;
}

const signs: Record<string, string> = { high: '▲', medium: '◆', low: '●' };

/** How grave, in words, with a sign of its own shape: the colour only repeats it. */
export function badge(severity: string, text = severity): Html {
  const sign = signs[severity];
  if (sign === undefined) return html`${text}`;
  return html`<span class="badge ${severity}"><span aria-hidden="true">${sign}</span> ${text}</span>`;
}
