import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { type NamedCells, records } from '../../../books/sheet.ts';
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
import { isCompared, isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { lineWords } from '../../../words/line-words.ts';
import { listSentence } from '../../../words/list-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { link, pageSection } from '../kit/parts.ts';
import { htmlTable, tableBody, tableRow } from '../kit/table.ts';

/** A line as a reader adds it up: what is taken off is negative. */
type Printed = { name: string; figure: Figure; kind: 'part' | 'sum' | 'of' };
/** One of the three sums of a currency; `empty` stands in its place when all of it is zero. */
type Sum = { title: string; lines: Printed[]; empty: string };

/** The most currencies on the page: the service decides how many it lists. */
const mostCurrencies = 12;

/** The statement of each currency: what became of the payouts, what was paid, and how that ties to the list. */
export function statementSection(
  sheet: string[][] | undefined,
  about: { list: ListStanding | null; verdicts: readonly RunVerdict[] },
): Html {
  const csv = link('statement.csv', 'statement.csv');
  return pageSection('statement', 'Statement', statementBody(records(sheet), { ...about, csv }));
}

/** The same without its heading. `csv`: the file with all lines. */
export function statementBody(
  rows: readonly NamedCells[],
  { list, verdicts, csv }: { list: ListStanding | null; verdicts: readonly RunVerdict[]; csv: Html | string },
): Html {
  const all = [...linesByCurrency(rows)];
  if (all.length === 0) return html`<p>${nothingText(list)}</p>\n`;
  const parts = all.slice(0, mostCurrencies).map(([currency, lines]) =>
    currencyPart(
      currency,
      lines,
      verdicts.find((one) => one.currency === currency),
    ),
  );
  if (all.length > mostCurrencies)
    parts.push(html`<p>… and ${all.length - mostCurrencies} more currencies in statement.csv.</p>\n`);
  return html`${parts}<p><span class="soft">Lines that are zero are left out here; ${csv} has all. <em>Items</em> says how many a line concerns; only amounts add up to the sum against the list.</span></p>\n`;
}

function nothingText(list: ListStanding | null): string {
  return isUsable(list)
    ? verdictWords.none.sentence
    : `Nothing was sent. What the service lists was not checked: ${listSentence(list)}`;
}

function currencyPart(currency: string, lines: CurrencyLines, judged: RunVerdict | undefined): Html {
  const mark = judged && verdictWords[judged.verdict];
  const name = mark !== undefined && html` <span class="soft">${mark.sign} ${mark.name}</span>`;
  const [ledger, paid] = [ledgerSum(lines), paidSum(lines)];
  const compared = !judged || isCompared(judged.verdict);
  const hasPaid = !isEmpty(ledger) || !isEmpty(paid);
  const columns = [
    sumTable(currency, ledger),
    ...(hasPaid ? [sumTable(currency, paid)] : []),
    compared
      ? html`${sumTable(currency, listSum(lines))}${unreadPart(lines)}`
      : html`<p class="empty"><strong>Not checked:</strong> which of these payouts the service lists, and whether it lists others.</p>\n`,
  ];
  return html`<h3>${currency}${name}</h3>\n<div class="sums">\n${columns.map((column) => html`<div>${column}</div>`)}</div>\n`;
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
function sumTable(currency: string, sum: Sum): Html {
  const { title, lines, empty } = sum;
  if (isEmpty(sum)) return html`<p class="empty">${empty}</p>\n`;
  const columns = [title, { number: 'Items' }, { number: currency }];
  const rows = lines
    .filter(({ figure, kind }) => kind === 'sum' || !isZero(figure))
    .map(({ name, figure, kind }) =>
      tableRow(columns, [name, grouped(`${figure.count}`), grouped(figure.amount)], kind),
    );
  const about = { name: `${currency}: ${title}`, look: 'sum' };
  return html`<div class="card">${htmlTable(about, columns, tableBody(rows))}</div>\n`;
}

/** Unreadable amounts are in no sum, so they are named below the table. */
function unreadPart(lines: CurrencyLines): Html | false {
  const { count } = lineOf(lines, 'unreadable');
  return (
    count > 0n &&
    html`<p><strong>Besides these, ${grouped(`${count}`)} listed with an unreadable amount:</strong> in no sum above.</p>\n`
  );
}
