import { windowDays } from '../../../books/figures.ts';
import { records } from '../../../books/sheet.ts';
import type { Banks } from '../../../core/domain/banks.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { type Html, html } from '../kit/html.ts';
import { pageSection } from '../kit/parts.ts';
import type { Draw } from './charts.ts';
import { daysPart, feesPart, settlePart } from './page-days.ts';
import type { Figured, Part } from './page-figure.ts';
import { agePart, bankPart, reasonPart, statePart } from './page-money.ts';

/** `none`: the line for a sheet without rows; null where another part of the page says it already. */
type Figure = { id: string; title: string; sheet: string; none: string | null; part: Part };

const figures: Figure[] = [
  {
    id: 'money',
    title: 'Money by state',
    sheet: 'states',
    none: 'No payouts were taken in yet.',
    part: statePart,
  },
  { id: 'ageing', title: 'Ageing of open items', sheet: 'ageing', none: null, part: agePart },
  {
    id: 'days',
    title: 'Payouts a day',
    sheet: 'days',
    none: `Nothing was submitted or paid in the last ${windowDays} days.`,
    part: daysPart,
  },
  {
    id: 'failures',
    title: 'Failures by reason',
    sheet: 'failures',
    none: `Nothing failed, was refused or came back in the last ${windowDays} days.`,
    part: reasonPart,
  },
  { id: 'banks', title: 'Failures by bank', sheet: 'banks', none: null, part: bankPart },
  { id: 'fees', title: 'Fees a day', sheet: 'fees', none: null, part: feesPart },
  { id: 'speed', title: 'Time to settle', sheet: 'settle_times', none: null, part: settlePart },
];
/** The most currencies that are drawn: the service decides how many it lists. */
const mostCurrencies = 12;

/** Every figure of the run: pictures, then a line for each figure without one. `lines` are further list items. */
export async function figureSections(
  sheets: Record<string, string[][]>,
  { list, lines, banks }: { list: ListStanding | null; lines: readonly Html[]; banks?: Banks | undefined },
  draw: Draw,
): Promise<Html> {
  const unchecked = isUsable(list) ? '' : ' The service’s list was not checked.';
  const pictures: Html[] = [];
  const items: Html[] = [];
  for (const { id, title, sheet, none, part } of figures) {
    const line = none === null ? null : none + unchecked;
    const texts: string[] = [];
    for (const one of await figuresOf({ id, none: line, part }, sheets[sheet], { draw, banks }))
      if (one.kind === 'line') texts.push(one.text);
      else pictures.push(html`<figure data-figure="${id}">\n${one.drawn}</figure>\n`);
    if (texts.length > 0) items.push(lineItem(id, title, texts.join(' ')));
  }
  const count = Math.min(3, pictures.length);
  const all = [...items, ...lines];
  const rest = all.length > 0 && html`<ul class="lines">\n${all}</ul>\n`;
  return pageSection(
    'pictures',
    'In figures',
    html`<div class="pictures with-${count}">\n${pictures}${rest}</div>\n`,
  );
}

/** A list item that stands for a figure without a picture. */
export function lineItem(id: string, title: string, text: string, more?: Html): Html {
  return html`<li data-figure="${id}"><strong>${title}.</strong> ${text}${more ?? ''}</li>\n`;
}

async function figuresOf(
  figure: Pick<Figure, 'id' | 'none' | 'part'>,
  sheet: string[][] | undefined,
  { draw, banks }: { draw: Draw; banks: Banks | undefined },
): Promise<Figured[]> {
  const { id, none, part } = figure;
  const line = (text: string): Figured => ({ kind: 'line', text });
  if (sheet === undefined) return [line('This run was made before these figures were kept.')];
  const groups = [...Map.groupBy(records(sheet), (row) => row.currency ?? '')];
  if (groups.length === 0) return none === null ? [] : [line(none)];
  const found: Figured[] = [];
  for (const [index, [currency, rows]] of groups.slice(0, mostCurrencies).entries())
    found.push(
      ...(await part(rows, { currency: currency || 'No currency', id: `${id}-${index + 1}`, draw, banks })),
    );
  const more = groups.length - mostCurrencies;
  return more > 0 ? [...found, line(`… and ${more} more currencies in report.xlsx.`)] : found;
}
