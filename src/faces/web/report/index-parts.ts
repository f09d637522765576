import { money, readableTime } from '../../../books/presentation.ts';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { grouped } from '../../../core/domain/counted.ts';
import type { Verdict } from '../../../core/domain/verdict.ts';
import { verdictFaces } from '../../../words/verdict-faces.ts';
import { escapeHtml, link } from './page-markup.ts';

/** The parts that index.html and the page of a closed month share. */

/** A column of a table; `number`: its cells stand right. */
export type IndexColumn = { name: string; number?: boolean };

/** A row under these columns, the first of which heads it. Cells are markup. */
export function tableRow([, ...columns]: readonly IndexColumn[], header: string, cells: string[]): string {
  const data = cells.map((cell, index) => {
    const { name = '', number = false } = columns[index] ?? {};
    return `<td${number ? ' class="number"' : ''} data-label="${escapeHtml(name)}"><div>${cell}</div></td>`;
  });
  return `<tr><th scope="row">${header}</th>${data.join('')}</tr>\n`;
}

/** A table of such rows. Where it is long, `list` names it for the search field. */
export function tableOf(id: string, columns: readonly IndexColumn[], rows: string, list = ''): string {
  const head = columns.map(
    ({ name, number }) =>
      `<th scope="col"${number === true ? ' class="number"' : ''}>${escapeHtml(name)}</th>`,
  );
  const named = list === '' ? '' : ` data-list="${escapeHtml(list)}"`;
  return `<div${named}>
<div class="wide" role="region" aria-labelledby="${id}-title" tabindex="0">
<table>
<thead><tr>${head.join('')}</tr></thead>
<tbody>\n${rows}</tbody>
</table>
</div>
</div>\n`;
}

/** The files of a folder in one menu; `of` tells its menus apart where they are read aloud. */
export function downloads(folder: string, names: readonly string[], of: string): string {
  const items = names.map((name) => `<li>${link(`${folder}/${name}`, name, of)}</li>`);
  return `<details class="menu"><summary aria-label="${escapeHtml(`Downloads of ${of}`)}">Downloads</summary><ul>${items.join('')}</ul></details>`;
}

export function timeTag(instant: string, zone: string): string {
  return `<time datetime="${escapeHtml(instant)}">${escapeHtml(readableTime(instant, zone))}</time>`;
}

/** How many currencies are named with their verdict: the service decides how many it lists. */
const mostNamed = 6;

/** The verdict on each currency, one below the other, or on the whole when no money moved. */
export function verdictList(whole: Verdict | null, currencies: readonly RunVerdict[]): string {
  if (whole === null) return 'made before verdicts were kept';
  if (currencies.length === 0) return verdictWord(whole);
  const named = currencies.slice(0, mostNamed).map(({ currency, verdict }) => verdictWord(verdict, currency));
  const more = currencies.length - named.length;
  return named.join('<br>') + (more > 0 ? `<br>and ${more} more currencies` : '');
}

function verdictWord(verdict: Verdict, currency?: string): string {
  const { sign, name, look } = verdictFaces[verdict];
  if (currency === undefined) return `<span class="${look}">${sign} ${name}</span>`;
  return `<span class="${look}" data-currency="${escapeHtml(currency)}" data-verdict="${verdict}">${sign} ${escapeHtml(currency)} ${name}</span>`;
}

/** The verdict on a currency as a banner, with lines of text. */
export function verdictBanner(currency: string, verdict: Verdict, lines: readonly string[]): string {
  const { sign, name, look } = verdictFaces[verdict];
  return `<li class="banner is-${verdict}" data-currency="${escapeHtml(currency)}" data-verdict="${verdict}"><strong class="${look}">${sign} ${escapeHtml(currency)}: ${name}</strong><p>${lines.map(escapeHtml).join('<br>')}</p></li>`;
}

/** Minor units of several currencies, one below the other. */
export function amountLines(
  amounts: ReadonlyMap<string, bigint>,
  more: (currency: string) => string,
): string {
  const lines = [...amounts].map(([currency, minor]) => {
    const amount = escapeHtml(`${currency} ${grouped(money(minor, currency))}`);
    return `${amount}${more(currency)}`;
  });
  return lines.join('<br>');
}

/** A share of a whole as `91.5%`, cut and not rounded: only all of it is 100%. */
export function share(part: bigint, whole: bigint): string {
  if (whole <= 0n) return '';
  const tenths = (part * 1000n) / whole;
  if (part > 0n && tenths === 0n) return 'less than 0.1%';
  return tenths % 10n === 0n ? `${tenths / 10n}%` : `${tenths / 10n}.${tenths % 10n}%`;
}
