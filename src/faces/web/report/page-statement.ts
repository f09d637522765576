import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { records } from '../../../books/sheet.ts';
import { differenceOf } from '../../../books/statement/difference.ts';
import { lineWords } from '../../../books/statement/line-words.ts';
import {
  type CurrencyLines,
  type Figure,
  isZero,
  lineOf,
  linesByCurrency,
  negated,
  paidAndReopened,
} from '../../../books/statement/statement-figures.ts';
import type { StatementLine } from '../../../books/statement/statement-lines.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { verdictFaces, verdictSentences } from '../../../words/verdict-faces.ts';
import { escapeHtml, link, pageSection, paragraph } from './page-markup.ts';
import { amountText } from './page-words.ts';
import { listWords } from './verdict-words.ts';

/** A line as a reader adds it up: what is taken off is negative. */
type Printed = { name: string; figure: Figure; kind: 'part' | 'sum' | 'of' };
/** One of the three sums of a currency; `empty` stands in its place when all of it is zero. */
type Sum = { title: string; lines: Printed[]; empty: string };

/** The most currencies on the page: the service decides how many it lists. */
const mostCurrencies = 12;

/** The statement of each currency: what became of the payouts, what was paid, and how that ties to the list. */
export function statementSection(
  sheet: string[][] | undefined,
  { list, verdicts }: { list: ListStanding | null; verdicts: readonly RunVerdict[] },
): string {
  const all = [...linesByCurrency(records(sheet))];
  if (all.length === 0) return pageSection('statement', 'Statement', paragraph(nothingText(list)));
  const parts = all.slice(0, mostCurrencies).map(([currency, lines]) =>
    currencyPart(
      currency,
      lines,
      verdicts.find((one) => one.currency === currency),
    ),
  );
  if (all.length > mostCurrencies)
    parts.push(paragraph(`… and ${all.length - mostCurrencies} more currencies in statement.csv.`));
  const note = paragraph({
    html: `<span class="soft">Lines that are zero are left out here; ${link('statement.csv', 'statement.csv')} has all. <em>Items</em> says how many a line concerns; only amounts add up to the sum against the list.</span>`,
  });
  return pageSection('statement', 'Statement', parts.join('') + note);
}

function nothingText(list: ListStanding | null): string {
  return isUsable(list)
    ? verdictSentences.none
    : `Nothing was sent. What the service lists was not checked: ${listWords[list ?? 'unread']}.`;
}

function currencyPart(currency: string, lines: CurrencyLines, judged: RunVerdict | undefined): string {
  const mark = judged === undefined ? '' : verdictFaces[judged.verdict];
  const name = mark === '' ? '' : ` <span class="soft">${mark.sign} ${mark.name}</span>`;
  const ours = [ledgerSum(lines), paidSum(lines)];
  const [ledger = '', paid = ''] = (ours.every(isEmpty) ? ours.slice(0, 1) : ours).map((sum) =>
    sumTable(currency, sum),
  );
  const isCompared = judged?.verdict !== 'not_compared';
  const columns = [
    ledger,
    paid + (isCompared ? differencePart(currency, lines) : ''),
    isCompared
      ? sumTable(currency, listSum(lines)) + unreadPart(lines)
      : `<p class="empty"><strong>Not checked:</strong> which of these payouts the service lists, and whether it lists others.</p>\n`,
  ].filter((column) => column !== '');
  return `<h3>${escapeHtml(currency)}${name}</h3>\n<div class="sums">\n${columns.map((column) => `<div>${column}</div>`).join('')}</div>\n`;
}

function ledgerSum(lines: CurrencyLines): Sum {
  const { part, less, sum, of } = printers(lines);
  return {
    title: 'Payouts',
    empty: 'No payout of ours was sent or open.',
    lines: [
      part('opening'),
      part('submitted'),
      part('reopened'),
      less('settled'),
      less('failed'),
      less('refused'),
      sum('closing'),
      of('in_flight'),
      of('unknown'),
    ],
  };
}

function paidSum(lines: CurrencyLines): Sum {
  const { part, less, sum, of } = printers(lines);
  return {
    title: 'Paid',
    empty: 'Nothing was paid.',
    lines: [
      part('settled'),
      less('returned'),
      { name: 'Paid, then reopened', figure: paidAndReopened(lines), kind: 'part' },
      sum('net_paid'),
      of('fees'),
    ],
  };
}

function listSum(lines: CurrencyLines): Sum {
  const { part, less, sum } = printers(lines);
  return {
    title: 'Against the list',
    empty: 'The service lists nothing.',
    lines: [
      part('submitted'),
      less('failed'),
      less('refused'),
      less('unseen'),
      part('foreign'),
      part('amount_differences'),
      part('timing'),
      part('duplicates'),
      part('status_conflicts'),
      part('collisions'),
      part('returns'),
      part('paid_elsewhere'),
      part('unexplained'),
      sum('listed_by_service'),
    ],
  };
}

/** What finance asks first: how far the list is from net paid, and why. Nothing where both are the same. */
function differencePart(currency: string, lines: CurrencyLines): string {
  const { amount, reasons } = differenceOf(lines);
  if (reasons.length === 0) return '';
  const total = `Total difference: ${amountText(currency, amount)}`;
  const parts = reasons.map(({ name, figure }) => `${name} ${grouped(figure.amount)}`).join('; ');
  return paragraph({
    html: `<strong>${escapeHtml(total)}</strong>, listed less net paid. ${escapeHtml(parts)}.`,
  });
}

function printers(lines: CurrencyLines) {
  const printed =
    (kind: Printed['kind'], isLess = false) =>
    (line: StatementLine): Printed => {
      const figure = lineOf(lines, line);
      return { name: lineWords[line], kind, figure: isLess ? negated(figure) : figure };
    };
  return { part: printed('part'), less: printed('part', true), sum: printed('sum'), of: printed('of') };
}

function isEmpty({ lines }: Sum): boolean {
  return lines.every(({ figure }) => isZero(figure));
}

/** A sum with its lines; those that are zero are left out, and a sum of nothing is one line. */
function sumTable(currency: string, sum: Sum): string {
  const { title, lines, empty } = sum;
  if (isEmpty(sum)) return `<p class="empty">${escapeHtml(empty)}</p>\n`;
  const rows = lines
    .filter(({ figure, kind }) => kind === 'sum' || !isZero(figure))
    .map(({ name, figure, kind }) => {
      const count = `<td class="number">${grouped(`${figure.count}`)}</td>`;
      const amount = `<td class="number">${escapeHtml(grouped(figure.amount))}</td>`;
      return `<tr class="${kind}"><th scope="row">${escapeHtml(name)}</th>${count}${amount}</tr>\n`;
    });
  return `<div class="card"><table class="sum" aria-label="${escapeHtml(`${currency}: ${title}`)}">
<thead><tr><th scope="col">${escapeHtml(title)}</th><th scope="col" class="number">Items</th><th scope="col" class="number">${escapeHtml(currency)}</th></tr></thead>
<tbody>\n${rows.join('')}</tbody></table></div>\n`;
}

/** Unreadable amounts are in no sum, so they are named below the table. */
function unreadPart(lines: CurrencyLines): string {
  const { count } = lineOf(lines, 'unreadable');
  if (count === 0n) return '';
  return paragraph({
    html: `<strong>Besides these, ${grouped(`${count}`)} listed with an unreadable amount:</strong> in no sum above.`,
  });
}
