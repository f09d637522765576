import type { ClosedMonth, frozenParts } from '../../../books/closed-month.ts';
import { readableMonth, readableTime } from '../../../books/presentation.ts';
import type { NamedCells } from '../../../books/sheet.ts';
import { statementLines } from '../../../books/statement/statement-lines.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { isCompared, isUsable, type Verdict } from '../../../core/domain/verdict.ts';
import { lineWords } from '../../../words/line-words.ts';
import { listSentence } from '../../../words/list-words.ts';
import { filePage } from '../kit/frame.ts';
import { type Html, html } from '../kit/html.ts';
import { batchMark, link, pageSection } from '../kit/parts.ts';
import { pageStyle } from '../kit/style.ts';
import { type HtmlColumn, wideTable } from '../kit/table.ts';
import { verdictBanner } from './index-parts.ts';
import { indexStyle } from './index-style.ts';
import { approvalTable, openAtClose, paidByColumns, paidTotals, signLines } from './month-parts.ts';
import { verdictLines } from './verdict-lines.ts';

/** The most currencies on the page: the service decides how many it lists. */
const mostCurrencies = 12;

/** report.html of a closed month, to be printed and signed: who closed it and when, the verdict, the statement, the digest. */
export function periodPage(
  closed: ClosedMonth,
  parts: Awaited<ReturnType<typeof frozenParts>>,
  { mode, zone, files }: { mode: string; zone: string; files: readonly string[] },
): string {
  const { period, list, statement, verdicts } = closed;
  const title = `${readableMonth(period.month)}, closed`;
  const banners = verdicts
    .slice(0, mostCurrencies)
    .map((one) => verdictBanner(one.currency, one.verdict, verdictLines(one, { statement, list })));
  const none = isUsable(list) ? 'No money moved in this month.' : listSentence(list);
  const tables = verdicts
    .slice(0, mostCurrencies)
    .map(({ currency, verdict }, index) =>
      currencyTable(`statement-${index + 1}`, currency, verdict, statement),
    );
  const more = verdicts.length - tables.length;
  const body = html`<header>
<h1>${title}</h1>
<nav aria-label="Reports"><ul><li><a href="../index.html">All reports</a></li>${files.map((name) => html`<li>${link(name, name)}</li>`)}</ul></nav>
<p class="soft">Mode <strong>${mode}</strong>. Times: ${zone}. A closed month never changes. What is found later counts in the month that is open then.</p>
</header>
<main id="main" tabindex="-1">
${pageSection('verdict', 'Verdict', banners.length > 0 ? html`<ul class="verdicts">${banners}</ul>\n` : html`<p>${none}</p>\n`)}${parts.paid !== undefined && pageSection('total', 'Total', paidTotals(parts.paid, closed))}${pageSection('closed', 'Who closed it', facts(closed, zone))}${tables}${more > 0 && html`<p>… and ${more} more currencies in statement.csv.</p>\n`}${pageSection('open', 'Open at the close', openAtClose(parts, zone, { batch: batchMark, payout: (name) => name }))}${(parts.columns ? paidByColumns(parts.columns) : []).map(({ title: name, table }, index) => pageSection(`column-${index + 1}`, name, table))}${parts.approvals !== undefined && pageSection('approvals', 'Approvals', approvalTable(parts.approvals, { batch: batchMark, time: (instant) => readableTime(instant, zone) }))}${signLines(period.month, closed)}</main>
<footer><p>Made by Counterfoil from the frozen rows of this month. It reads the same whenever it is written again.</p></footer>
`;
  return filePage({ title: `${title} (${mode})`, style: pageStyle + indexStyle, body });
}

function facts({ period, comparedAt, list }: ClosedMonth, zone: string): Html {
  const time = (instant: string): string => readableTime(instant, zone);
  const compared =
    comparedAt === null
      ? 'nothing: no list of the service was ever read completely'
      : `the service’s list of ${time(comparedAt)} (${period.run_id ?? ''}). ${listSentence(list)}`;
  const rows: [string, string][] = [
    ['Closed by', period.closed_by],
    ['Closed at', time(period.closed_at)],
    ['Covers', `${time(period.starts_at)} up to ${time(period.ends_at)} (${period.timezone})`],
    ['Compared with', compared],
  ];
  const pairs = rows.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`);
  return html`<dl class="facts">${pairs}<dt>Digest</dt><dd><code>${period.digest}</code></dd></dl>
<p>The digest is the SHA-256 of the rows, the bounds, the time and the person. counterfoil verify computes it again.</p>
`;
}

const sums = new Set(['closing', 'net_paid', 'listed_by_service']);

function currencyTable(
  id: string,
  currency: string,
  verdict: Verdict,
  statement: readonly NamedCells[],
): Html {
  const columns: HtmlColumn[] = [
    'Line',
    'In statement.csv',
    { number: 'Payouts' },
    { number: `Amount (${currency})` },
  ];
  const rows = statementLines.flatMap((line) => {
    const row = statement.find((one) => one.currency === currency && one.line === line);
    if (!row) return [];
    const strong = (text: string) => (sums.has(line) ? html`<strong>${text}</strong>` : text);
    return [
      [
        strong(lineWords[line]),
        html`<code>${line}</code>`,
        strong(grouped(row.count ?? '')),
        strong(grouped(row.amount ?? '')),
      ],
    ];
  });
  const unchecked =
    !isCompared(verdict) &&
    html`<p>Not checked: which of these payouts the service lists, and whether it lists others.</p>\n`;
  const title = `Statement, ${currency}`;
  return pageSection(id, title, html`${unchecked}${wideTable(title, columns, rows)}`);
}
