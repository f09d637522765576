import { decimalsOf, type NamedCells } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import { type Html, html } from '../kit/html.ts';
import { badge, bankText } from '../kit/parts.ts';
import { type HtmlCell, type HtmlColumn, htmlTable, tableRow, wide } from '../kit/table.ts';
import { type Item, itemsOf } from './action-groups.ts';
import { discrepancyStory, type Shown } from './action-story.ts';
import { amountText, groupedInside, localTimes, plainKind, shortened, signed } from './page-words.ts';

/** How many lines the page shows; the rest are in discrepancies.csv. */
const mostItems = 100;

const columns: readonly HtmlColumn[] = [
  ...['What', 'Beneficiary'],
  ...['Expected', 'Actual', 'Difference', 'Age'].map((number) => ({ number })),
  'Next step',
];

/** The gravest open discrepancies, one line each, with how many of them the lines cover. */
export function itemTable(rows: readonly NamedCells[], shown: Shown): { table: Html; covered: number } {
  const items = itemsOf(rows).slice(0, mostItems);
  const about = { name: 'Open discrepancies, the gravest first', look: 'items' };
  const bodies = html`${items.map((item) => itemBody(item, shown))}`;
  const table = wide('Open discrepancies', htmlTable(about, columns, bodies), 'card');
  return { table, covered: items.reduce((sum, item) => sum + item.length, 0) };
}

/** A cell without a value: on a narrow screen it is left out. */
const unknown: HtmlCell = { content: '–', look: 'none' };

/** One discrepancy: its line, and its story below, folded. */
function itemBody(item: Item, shown: Shown): Html {
  const [row] = item;
  const cells = [
    whatCell(item),
    beneficiaryCell(item, shown),
    valueCell(row.expected),
    valueCell(row.actual),
    row.difference ? signed(row.difference) : unknown,
    ageText(item),
    localTimes(row.next_step || row.action || '', shown.zone),
  ];
  return html`<tbody class="item">
${tableRow(columns, cells)}<tr class="story"><td colspan="${columns.length}"><details><summary aria-label="Details of ${nameOf(item)}">Details</summary>
${discrepancyStory(item, shown)}</details></td></tr>
</tbody>\n`;
}

function whatCell(item: Item): Html {
  const [{ severity = '', kind = '', currency = '' }] = item;
  const amount = amountOf(item);
  const money = amount === '' ? '' : ` · ${amountText(currency, amount)}`;
  return html`${badge(severity, plainKind(severity))} <span class="kind">${plainKind(kind)}</span> <span class="about"><span class="name">${shortened(nameOf(item))}</span><span class="money">${money}</span></span>`;
}

/** The reference, or how many a group holds. */
function nameOf(item: Item): string {
  const [{ reference = '' }] = item;
  return item.length > 1 ? counted(item.length, 'payout') : reference || 'no reference';
}

/** The money concerned, as a plain decimal; empty where none is known. */
function amountOf(item: Item): string {
  const known = item.filter(({ amount }) => amount);
  return known.length === 0 ? '' : decimalsOf(known);
}

function beneficiaryCell(item: Item, shown: Shown): HtmlCell {
  const [row] = item;
  if (item.length > 1) return `${shortened(row.account_name ?? '', 40)} and others`;
  const bank = [row.account_number, row.bank_code && bankText(row.bank_code, shown)]
    .filter(Boolean)
    .join(' · ');
  const name = shortened(row.account_name ?? '', 80);
  if (bank === '') return name || unknown;
  return html`${name || '–'} <span class="about">${shortened(bank)}</span>`;
}

/** Amounts stay in one line; words may break. */
function valueCell(value: string | undefined): HtmlCell {
  const text = groupedInside(shortened(value ?? '', 120)) || '–';
  return /^[−\d.,]+$/.test(text) ? text : html`<span class="said">${text}</span>`;
}

function ageText(item: Item): Html {
  const days = Math.max(...item.map((row) => Number(row.age_days || '0')));
  return html`${days}&nbsp;d`;
}
