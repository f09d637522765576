import { money, readableTime } from '../../../books/presentation.ts';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { records, totalOf } from '../../../books/sheet.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { severities } from '../../../core/domain/discrepancy-kinds.ts';
import { isUsable, type ListStanding, type Verdict } from '../../../core/domain/verdict.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { badge, link, separated } from '../kit/parts.ts';

/** The parts that index.html and the page of a closed month share. */

/** The files of a folder in one menu; `of` tells its menus apart where they are read aloud. */
export function downloads(folder: string, names: readonly string[], of: string): Html {
  const items = names.map((name) => html`<li>${link(`${folder}/${name}`, name, of)}</li>`);
  return html`<details class="menu"><summary aria-label="Downloads of ${of}">Downloads</summary><ul>${items}</ul></details>`;
}

export function timeTag(instant: string, zone: string): Html {
  return html`<time datetime="${instant}">${readableTime(instant, zone)}</time>`;
}

/** How many currencies are named with their verdict: the service decides how many it lists. */
const mostNamed = 6;

/** The verdict on each currency, one below the other, or on the whole when no money moved. */
export function verdictList(whole: Verdict | null, currencies: readonly RunVerdict[]): Html {
  if (whole === null) return html`made before verdicts were kept`;
  if (currencies.length === 0) return verdictWord(whole);
  const named = currencies.slice(0, mostNamed).map(({ currency, verdict }) => verdictWord(verdict, currency));
  const more = currencies.length - named.length;
  return separated([...named, ...(more > 0 ? [`and ${more} more currencies`] : [])]);
}

function verdictWord(verdict: Verdict, currency?: string): Html {
  const { sign, name, look } = verdictWords[verdict];
  if (currency === undefined) return html`<span class="${look}">${sign} ${name}</span>`;
  return html`<span class="${look}" data-currency="${currency}" data-verdict="${verdict}">${sign} ${currency} ${name}</span>`;
}

/** The verdict on a currency as a banner, with lines of text. */
export function verdictBanner(currency: string, verdict: Verdict, lines: readonly string[]): Html {
  const { sign, name, look } = verdictWords[verdict];
  return html`<li class="verdict is-${look}" data-currency="${currency}" data-verdict="${verdict}"><strong class="${look}">${sign} ${currency}: ${name}</strong><p>${separated(lines)}</p></li>`;
}

/** Minor units of several currencies, one below the other. */
export function amountLines(
  amounts: ReadonlyMap<string, bigint>,
  more: (currency: string) => Html | false,
): Html {
  const lines = [...amounts].map(
    ([currency, minor]) => html`<div>${currency} ${grouped(money(minor, currency))}${more(currency)}</div>`,
  );
  return html`${lines}`;
}

/** A share of a whole as `91.5%`, cut and not rounded: only all of it is 100%. */
export function share(part: bigint, whole: bigint): string {
  if (whole <= 0n) return '';
  const tenths = (part * 1000n) / whole;
  if (part > 0n && tenths === 0n) return 'less than 0.1%';
  return tenths % 10n === 0n ? `${tenths / 10n}%` : `${tenths / 10n}.${tenths % 10n}%`;
}

/** What a run left open, by severity, from its frozen sheet `open`. */
export function openText(sheet: string[][] | undefined, list: ListStanding | null): Html {
  if (sheet === undefined) return html`not counted`;
  const open = records(sheet).filter(({ state }) => state === 'open');
  const parts = severities.flatMap((severity) => {
    const count = totalOf(open.filter((one) => one.severity === severity));
    return count > 0n ? [badge(severity, `${grouped(`${count}`)} ${severity}`)] : [];
  });
  if (!isUsable(list)) parts.push(parts.length > 0 ? html`others not checked` : html`not checked`);
  return parts.length > 0 ? separated(parts, ' ') : html`none`;
}
