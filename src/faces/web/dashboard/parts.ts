import { money } from '../../../books/presentation.ts';
import { amountText, grouped } from '../../../core/domain/counted.ts';
import type { Severity } from '../../../core/domain/discrepancy-kinds.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { CountedState } from '../../../core/domain/payout.ts';
import type { Verdict } from '../../../core/domain/verdict.ts';
import { onDesk } from '../../../words/desk-words.ts';
import { readable } from '../../../words/readable.ts';
import { shortTime, shortTimeWithSeconds } from '../../../words/short-times.ts';
import { stateWords } from '../../../words/state-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { badge, bankText, isWhole } from '../kit/parts.ts';
import type { HtmlCell } from '../kit/table.ts';
import { duration } from '../report/page-words.ts';
import type { View } from './frame.ts';

type Clocked = Pick<View, 'zone' | 'now'>;

/** An instant, short and local; `seconds` for events that follow each other. */
export function time(instant: string | null, { zone, now }: Clocked, seconds = false): Html {
  if (instant === null) return html`–`;
  const shown = (seconds ? shortTimeWithSeconds : shortTime)(instant, zone, now);
  return html`<time datetime="${instant}">${shown}</time>`;
}

/** An instant with its year: what is printed and kept needs it. */
export function dated(instant: string | null, { zone }: Pick<View, 'zone'>): Html {
  // No year is that of an empty now.
  return time(instant, { zone, now: '' });
}

/** A sentence of ours: its instants are short and local, its amounts grouped, and it names no command. */
export function sentence(text: string, view: Clocked): string {
  return onDesk(note(text, view));
}

/** What a person wrote, with short times. */
export function note(text: string, { zone, now }: Clocked): string {
  return readable(text, (instant) => shortTime(instant, zone, now));
}

/** How long ago, in the two units that matter. */
export function ago(instant: string, { now }: Clocked): string {
  return duration(Math.max(0, Math.round((Date.parse(now) - Date.parse(instant)) / 1000)));
}

export function amount(currency: string, minor: bigint): string {
  return amountText(currency, money(minor, currency));
}

/** An amount within words, which stands on one line. */
export function wholeAmount(text: string): Html {
  return html`<span class="whole">${text}</span>`;
}

/** Minor units with the currency's digits, for a payout, whose currency is always known. */
export function exactAmount(currency: string, minor: bigint): string {
  return amountText(currency, formatMinor(minor, currency));
}

export function countText(count: number | bigint): string {
  return grouped(count.toString());
}

export function stateText(state: CountedState): string {
  return stateWords[state];
}

/** A sign of its own shape and a look for each state: the colour only repeats the word. */
const stateLooks: Record<CountedState, readonly [sign: string, look: string]> = {
  held: ['‖', 'medium'],
  ready: ['○', 'low'],
  sending: ['●', 'low'],
  pending: ['●', 'low'],
  success: ['✓', 'ok'],
  failed: ['✗', 'high'],
  refused: ['✗', 'high'],
  unknown: ['▲', 'high'],
  cancelled: ['–', 'low'],
  returned: ['↩', 'high'],
  paid_again: ['✓', 'ok'],
  waits_again: ['○', 'low'],
  failed_again: ['✗', 'high'],
};

/** A state in a table. */
export function stateBadge(state: CountedState): Html {
  const [sign, look] = stateLooks[state];
  return html`<span class="badge ${look}"><span aria-hidden="true">${sign}</span> ${stateText(state)}</span>`;
}

/** Whom a payout pays, for a reader who may see bank details. */
export function payeeCell(
  payout: { account_name: string; account_number: string; bank_code: string },
  view: Pick<View, 'banks'>,
): HtmlCell {
  const { account_name: name, account_number: account, bank_code: bank } = payout;
  const content = html`${name}<br><small class="soft">${account} · ${bankText(bank, view)}</small>`;
  return { content, look: 'payee' };
}

/** A link into the dashboard; each part of the path is encoded. A batch has a long name, which may break between its words. */
export function to(parts: readonly string[], name: string | Html): Html {
  const look = parts[0] !== 'batches' && typeof name === 'string' && isWhole(name) && html` class="whole"`;
  return html`<a${look} href="/${parts.map(encodeURIComponent).join('/')}">${name}</a>`;
}

export function severity(one: Severity): Html {
  return badge(one);
}

/** A verdict with its sign; only the first is green. */
export function verdictText(verdict: Verdict): Html {
  const { sign, name, look } = verdictWords[verdict];
  return html`<span class="${look}"><span aria-hidden="true">${sign}</span> ${name}</span>`;
}

/** `look`: a class, such as `screen` for what no print has. */
export function panel(title: string, content: Html, look: '' | 'screen' = ''): Html {
  return html`<section class="panel${look !== '' && html` ${look}`}"><h2>${title}</h2>
${content}
</section>
`;
}

/** The big answer at the top of a page; `look` colours what the words say. */
export function dashboardBanner(look: 'good' | 'warn' | 'bad' | 'none', title: string, content: Html): Html {
  const sign = { good: '✓', warn: '▲', bad: '■', none: '–' }[look];
  return html`<section class="state is-${look}"><h1 data-news><span aria-hidden="true">${sign}</span> ${title}</h1>
${content}
</section>
`;
}

export function facts(list: readonly (readonly [string, Html | string])[]): Html {
  return html`<dl>${list.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}
