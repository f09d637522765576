import { isUsable, type ListStanding } from '../../domain/verdict.ts';
import { records } from '../sheet.ts';
import type { Draw } from './charts.ts';
import { daysPart, feesPart, settlePart } from './page-days.ts';
import { paragraph, section } from './page-markup.ts';
import { agePart, bankPart, reasonPart, statePart } from './page-money.ts';
import type { Part } from './page-part.ts';

type Figure = { id: string; title: string; sheet: string; none: string; part: Part };

const figures: Figure[] = [
  {
    id: 'money',
    title: 'Money by state',
    sheet: 'states',
    none: 'No payouts were taken in yet.',
    part: statePart,
  },
  {
    id: 'ageing',
    title: 'Age of open discrepancies',
    sheet: 'ageing',
    none: 'No open discrepancy is known.',
    part: agePart,
  },
  {
    id: 'days',
    title: 'Payouts per day',
    sheet: 'days',
    none: 'Nothing was sent or settled in the last 31 days.',
    part: daysPart,
  },
  {
    id: 'failures',
    title: 'Failures by reason',
    sheet: 'failures',
    none: 'Nothing failed, was refused or came back in the last 31 days.',
    part: reasonPart,
  },
  {
    id: 'banks',
    title: 'Failures by bank',
    sheet: 'banks',
    none: 'No bank had a failure in the last 31 days.',
    part: bankPart,
  },
  {
    id: 'fees',
    title: 'Fees per day',
    sheet: 'fees',
    none: 'Nothing settled in the last 31 days, so there were no fees.',
    part: feesPart,
  },
  {
    id: 'speed',
    title: 'Time to settle',
    sheet: 'settle_times',
    none: 'Nothing sent in the last 31 days has settled yet.',
    part: settlePart,
  },
];
/** The most currencies that are drawn: the service decides how many it lists. */
const mostCurrencies = 12;

/** The headings that the page's contents name. */
export const figureTitles = figures.map(({ id, title }) => ({ id, title }));

/** Every figure of the run, each with its table; currencies are never added together. */
export async function figureSections(
  sheets: Record<string, string[][]>,
  list: ListStanding | null,
  draw: Draw,
): Promise<string> {
  const unchecked = isUsable(list) ? '' : ' The service’s list was not checked.';
  const parts: string[] = [];
  for (const figure of figures) {
    const none = figure.none + unchecked;
    parts.push(await figureSection({ ...figure, none }, sheets[figure.sheet], draw));
  }
  return parts.join('');
}

async function figureSection(figure: Figure, sheet: string[][] | undefined, draw: Draw): Promise<string> {
  const { id, title, none, part } = figure;
  if (sheet === undefined)
    return section(id, title, paragraph('This run was made before these figures were kept.'));
  const groups = [...Map.groupBy(records(sheet), (row) => row.currency ?? '')];
  if (groups.length === 0) return section(id, title, paragraph(none));
  const parts: string[] = [];
  for (const [index, [currency, rows]] of groups.slice(0, mostCurrencies).entries())
    parts.push(await part(rows, { currency: currency || 'No currency', id: `${id}-${index + 1}`, draw }));
  if (groups.length > mostCurrencies)
    parts.push(paragraph(`… and ${groups.length - mostCurrencies} more currencies in report.xlsx.`));
  return section(id, title, parts.join(''));
}
