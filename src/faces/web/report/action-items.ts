import { decimalsOf, type NamedCells } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import { type Item, itemsOf } from './action-groups.ts';
import { discrepancyStory } from './action-story.ts';
import { badge, escapeHtml, markup } from './page-markup.ts';
import { amountText, groupedInside, localTimes, plainKind, shortened, signed } from './page-words.ts';

/** How many lines the page shows; the rest are in discrepancies.csv. */
const mostItems = 100;

const columns = ['What', 'Beneficiary', 'Expected', 'Actual', 'Difference', 'Age', 'Next step'];
const numbers = new Set(['Expected', 'Actual', 'Difference', 'Age']);

/** The gravest open discrepancies, one line each, with how many of them the lines cover. */
export function itemTable(rows: readonly NamedCells[], zone: string): { html: string; covered: number } {
  const items = itemsOf(rows).slice(0, mostItems);
  const head = columns
    .map((name) => `<th scope="col"${numbers.has(name) ? ' class="number"' : ''}>${name}</th>`)
    .join('');
  const html = `<div class="card wide" role="region" aria-label="Open discrepancies" tabindex="0">
<table class="items" aria-label="Open discrepancies, the gravest first">
<thead><tr>${head}</tr></thead>
${items.map((item) => itemBody(item, zone)).join('')}</table>
</div>\n`;
  return { html, covered: items.reduce((sum, item) => sum + item.length, 0) };
}

/** One discrepancy: its line, and its story below, folded. */
function itemBody(item: Item, zone: string): string {
  const [row] = item;
  const cells = [
    beneficiaryCell(item),
    valueCell(row.expected),
    valueCell(row.actual),
    escapeHtml(row.difference ? signed(row.difference) : '–'),
    ageText(item),
    escapeHtml(localTimes(row.next_step || row.action || '', zone)),
  ].map((cell, index) => {
    const name = columns[index + 1] ?? '';
    const looks = [...(numbers.has(name) ? ['number'] : []), ...(cell === '–' ? ['none'] : [])];
    return `<td${looks.length > 0 ? ` class="${looks.join(' ')}"` : ''} data-label="${name}">${cell}</td>`;
  });
  return `<tbody class="item">
<tr><th scope="row">${whatCell(item)}</th>${cells.join('')}</tr>
<tr class="story"><td colspan="${columns.length}"><details><summary aria-label="Details of ${escapeHtml(nameOf(item))}">Details</summary>
${discrepancyStory(item, zone)}</details></td></tr>
</tbody>\n`;
}

function whatCell(item: Item): string {
  const [{ severity = '', kind = '', currency = '' }] = item;
  const amount = amountOf(item);
  const money = amount === '' ? '' : ` · ${amountText(currency, amount)}`;
  return `${markup(badge(severity, plainKind(severity)))} <span class="kind">${escapeHtml(plainKind(kind))}</span> <span class="about"><span class="name">${escapeHtml(shortened(nameOf(item)))}</span><span class="money">${escapeHtml(money)}</span></span>`;
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

function beneficiaryCell(item: Item): string {
  const [row] = item;
  if (item.length > 1) return `${escapeHtml(shortened(row.account_name ?? '', 40))} and others`;
  const bank = [row.account_number, row.bank_code].filter(Boolean).join(' · ');
  const name = escapeHtml(shortened(row.account_name ?? '', 80)) || '–';
  return bank === '' ? name : `${name} <span class="about">${escapeHtml(shortened(bank))}</span>`;
}

/** Amounts stay in one line; words may break. */
function valueCell(value: string | undefined): string {
  const text = groupedInside(shortened(value ?? '', 120)) || '–';
  return /^[−\d.,]+$/.test(text) ? text : `<span class="said">${escapeHtml(text)}</span>`;
}

function ageText(item: Item): string {
  const days = Math.max(...item.map((row) => Number(row.age_days || '0')));
  return `${days}&nbsp;d`;
}
