import { type ClosedMonth, type MonthParts, periodFolder } from '../../../books/closed-month.ts';
import { paidColumnSheet } from '../../../books/column-totals.ts';
import type { MonthPayment, MonthSpan } from '../../../books/month-facts.sql.ts';
import { readableMonth, zoned } from '../../../books/presentation.ts';
import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import type { NotClosable, PeriodWarning } from '../../../books/statement/freeze-period.ts';
import type { Month } from '../../../books/statement/months.ts';
import type { UnpaidTotal } from '../../../books/unpaid.sql.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { CountedState } from '../../../core/domain/payout.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { listSentence } from '../../../words/list-words.ts';
import { notClosableText, periodWarningTexts } from '../../../words/period-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { hasRight } from '../../admin/access.ts';
import type { LedgerFigures } from '../../admin/ledger-figures.sql.ts';
import { csvText } from '../../files/csv-writer.ts';
import { type Html, html } from '../kit/html.ts';
import { digestMark, separated, way } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { approvalTable, openAtClose, paidByColumns, paidTotals, signLines } from '../report/month-parts.ts';
import { statementBody } from '../report/page-statement.ts';
import { form, whoMay } from './forms.ts';
import { accountText, seesBank, type View } from './frame.ts';
import { onwards } from './pages.ts';
import {
  amount,
  countText,
  dated,
  exactAmount,
  facts,
  panel,
  sentence,
  stateText,
  time,
  to,
  verdictText,
} from './parts.ts';
import { addressOf, perPage } from './query.ts';
import { type UnpaidRows, unpaidPart } from './unpaid-view.ts';

export type MonthFacts = {
  name: string;
  /** The frozen month; null while it is open. */
  closed: ClosedMonth | null;
  parts: MonthParts;
  /** False: too much was paid in an open month to be added up unless somebody asks. */
  isSummed: boolean;
  /** Whether an archive has rows of it. */
  archived: boolean;
  figures: LedgerFigures['payouts'];
  unpaid: UnpaidTotal[];
  /** The newest of them, one more than the page has; of a closed month, what is unpaid now of its batches. */
  notPaid: UnpaidRows;
  lastRun: LastRun | null;
  /** When the newest complete list was read; null without one, and for a closed month. */
  wholeList: string | null;
  /** Why it cannot be closed now; null where it is over, and the next to close. */
  notClosable: NotClosable | null;
  span: MonthSpan;
};

/** All months of the ledger, the newest first. */
export function monthsView(
  { closed, open }: { closed: readonly ClosedMonth[]; open: readonly Month[] },
  view: View,
): Html {
  const rows = [
    ...open.map(({ month, endsAt }) => [
      to(['months', month], readableMonth(month)),
      endsAt <= view.now ? 'over, not closed' : 'open',
      '–',
    ]),
    ...closed.map(({ period, whole, verdicts }) => [
      to(['months', period.month], readableMonth(period.month)),
      html`closed by ${period.closed_by}, ${time(period.closed_at, view)}`,
      verdicts.length === 0
        ? verdictText(whole)
        : separated(verdicts.map(({ currency, verdict }) => html`${currency} ${verdictText(verdict)}`)),
    ]),
  ];
  return html`<h1>Months</h1>
${panel('Newest first', wideTable('Months', ['Month', 'State', 'Verdict'], rows))}`;
}

/** The most paid rows on a page for paper. */
export const mostPrinted = 2000;

/** Paid rows; `shown`: how many a page has, so that a page of more is one for paper. */
type PaidPage = { rows: readonly MonthPayment[]; hasMore: boolean; shown: number };

/** A month to read, to print and to sign. */
export function monthView(month: MonthFacts, paid: PaidPage, view: View): Html {
  const { name, closed, parts, span, notClosable } = month;
  const last = paid.hasMore ? paid.rows.at(-1) : undefined;
  const forPaper = paid.shown > perPage;
  const kept: Record<string, string> = forPaper ? { rows: 'all' } : {};
  const older = last && addressOf(`/months/${name}`, { ...kept, before: `${last.entry}` });
  const names = {
    batch: (id: string) => to(['batches', id], id),
    payout: (reference: string) => to(['payouts', reference], reference),
    time: (instant: string) => dated(instant, view),
  };
  return html`<h1>${readableMonth(name)}</h1>
${panel(
  closed ? 'Closed' : 'Not closed',
  html`${closed ? closedFacts(closed, view) : openFacts(month, view)}
${notClosable === null && html`<p>${hasRight(view.caller, 'decide') ? html`<a class="go" href="/months/${name}/close">Close this month…</a>` : whoMay(view, 'decide')}</p>`}`,
)}
${panel('Total', month.isSummed ? paidTotals(parts.paid, closed ?? { statement: [], verdicts: [] }) : html`<p>Too many payouts to add up at once. <a href="/months/${name}?sums=all">Add them up</a></p>`)}
${closed && panel('Statement', statementBody(closed.statement, { ...closed, csv: way(view, `/reports/${periodFolder(name)}/statement.csv`, 'statement.csv') }))}
${closed ? panel('Open at the close', openAtClose(parts, view.zone, names)) : panel('What is open', openPart(month, view))}
${month.notPaid.length > 0 && panel(closed ? 'Still not paid today' : 'Not paid, and not paid again', html`${closed && html`<p>This list is of now, and not frozen.</p>`}${unpaidPart(month.notPaid, view)}`, closed ? 'screen' : '')}
${seesBank(view) && columnParts(month)}
${panel('Approvals', approvalTable(parts.approvals, names))}
${panel('Paid', paidPart(month, paid, view))}
${onwards(older ?? null)}
${signLines(name, closed)}<p class="soft">From ${dated(span.startsAt, view)} up to ${dated(span.endsAt, view)}.</p>`;
}

function columnParts({ name, parts }: MonthFacts): Html {
  const tables = paidByColumns(parts.columns).map(({ title, table }) => panel(title, table));
  const csv = html`<p class="screen"><a href="/months/${name}/totals-by-column.csv">CSV of these totals</a></p>`;
  return html`${tables}${tables.length > 0 && csv}`;
}

function closedFacts({ period, comparedAt, list, verdicts, whole }: ClosedMonth, view: View): Html {
  const each = verdicts.map(({ currency, verdict }) => html`${currency} ${verdictText(verdict)}`);
  return html`${facts([
    ['Verdict', each.length > 0 ? separated(each) : verdictText(whole)],
    ['Closed by', html`${period.closed_by}, ${dated(period.closed_at, view)}`],
    [
      'Compared with',
      comparedAt === null
        ? listSentence(list)
        : html`the list of ${dated(comparedAt, view)}. ${listSentence(list)}`,
    ],
    ['Digest', digestMark(period.digest)],
  ])}
<p>These figures never change. What is learnt later counts in the month that is open then. ${way(view, `/reports/${periodFolder(period.month)}/report.html`, 'The frozen report')}</p>`;
}

function openFacts({ span, notClosable: why }: MonthFacts, view: View): Html {
  const stands =
    span.endsAt <= view.now
      ? 'The month is over.'
      : html`The month goes on up to ${dated(span.endsAt, view)}.`;
  return html`<p>${stands} These figures may change until it is closed.</p>${why && html`<p>${upperFirst(notClosableText(why))}.</p>`}`;
}

const underWay: readonly CountedState[] = ['held', 'ready', 'pending', 'sending', 'unknown'];

/** What a close would be in spite of. */
function openPart(month: MonthFacts, view: View): Html {
  const { parts, figures, unpaid, lastRun } = month;
  const waits = figures.filter(({ state, count }) => count > 0 && underWay.includes(state));
  const what = (state: CountedState, count: number | bigint): string =>
    `${counted(count, 'payout')} ${stateText(state)}`;
  const under = [
    ...waits.map(
      ({ state, currency, count, amount: minor }) =>
        html`<li>${way(view, `/payouts?state=${state}&currency=${currency}`, what(state, count))}: ${amount(currency, minor)}</li>`,
    ),
    // Their list would have those of closed months too: the rows stand below.
    ...unpaid.map(
      ({ state, currency, count, minor }) =>
        html`<li>${what(state, count)}, and not paid again: ${amount(currency, minor)}</li>`,
    ),
  ];
  const kinds = (parts.open ?? []).map(
    ({ kind = '', count = '' }) =>
      html`<li><a href="/discrepancies?kind=${kind}">${plainKind(kind)}</a>: ${grouped(count)}</li>`,
  );
  const items = [...under, ...kinds];
  const compared = lastRun
    ? html`<p>The last reconciliation began ${time(lastRun.startedAt, view)}: ${verdictText(lastRun.verdict)}.</p>`
    : html`<p class="warn">Nothing was compared with the service yet.</p>`;
  return html`${items.length > 0 ? html`<ul>${items}</ul>` : html`<p>No payout waits or is under way, and no discrepancy is open.</p>`}${compared}${listPart(month, view)}`;
}

/** A close compares with the newest complete list, which the runs of each night do not renew. */
function listPart({ wholeList, span }: MonthFacts, view: View): Html {
  if (view.now < span.endsAt || (wholeList !== null && wholeList >= span.endsAt)) return html``;
  const which =
    wholeList === null
      ? html`No complete list was ever read: a close would compare nothing.`
      : html`A close compares with the newest complete list. It was read before the month ended: ${dated(wholeList, view)}.`;
  return html`<p class="warn">${which}</p><p>“Reconcile the whole list” on <a href="/runs">Runs</a> reads a new one.</p>`;
}

function paidPart(month: MonthFacts, { rows, shown }: PaidPage, view: View): Html {
  const { name, parts } = month;
  const all = parts.paid.reduce((sum, { count = '0' }) => sum + BigInt(count), 0n);
  const isPart = !month.isSummed || BigInt(rows.length) < all;
  const ofAll = month.isSummed ? html` of ${countText(all)}` : '';
  const part = html`${countText(rows.length)}${ofAll} paid rows stand on this page; the CSV has all.`;
  const most = countText(month.isSummed && all < BigInt(mostPrinted) ? all : BigInt(mostPrinted));
  const forPaper =
    shown === perPage &&
    isPart &&
    html` · <a href="/months/${name}?rows=all">To print: ${most} rows on one page</a>`;
  const csv = seesBank(view) && html`<a href="/months/${name}/paid.csv">CSV of every paid row</a>`;
  return html`${isPart && html`<p>${part}</p>`}${paidTable(rows, month, view)}${rows.length > 0 && html`<p class="screen">${csv}${forPaper}</p>`}`;
}

function paidTable(rows: readonly MonthPayment[], { archived }: MonthFacts, view: View): Html {
  const gone = html`${archived && html`<p class="warn">An archive has rows of this month: they are not all in this list.</p>`}`;
  if (rows.length === 0) return html`${gone}<p>No paid row is in this ledger.</p>`;
  const cells = rows.map((one) => [
    to(['payouts', one.reference], one.reference),
    seesBank(view) ? one.account_name : 'hidden',
    accountText(one, view),
    exactAmount(one.currency, one.amount),
    time(one.paid_at, view),
    to(['batches', one.batch_id], one.batch_id),
  ]);
  const columns = ['Reference', 'Payee', 'Account', { number: 'Amount' }, 'Known as paid', 'Batch'];
  const rule = html`<p class="soft">A payment counts in the month in which it became known as paid. The page of the payout says when the service paid it.</p>`;
  return html`${gone}${wideTable('Paid rows', columns, cells, { look: 'paid' })}${rule}`;
}

/** What the person closes the month in spite of, and one box. `expected`: null where it takes too long to foresee. */
export function closeMonthView(
  month: MonthFacts,
  expected: readonly PeriodWarning[] | null,
  view: View,
): Html {
  const { name } = month;
  const lines = expected?.map((one) => html`<li>${sentence(periodWarningTexts(one).page, view)}</li>`) ?? [];
  const later = html`<p class="warn">The month has too many payouts to say before what its statement will show.</p>`;
  return html`<h1>Close ${readableMonth(name)}</h1>
${panel('What is open', openPart(month, view))}
${expected === null ? later : lines.length > 0 && panel('What the statement will show', html`<ul>${lines}</ul>`)}
${panel(
  'Decide',
  html`<p>A closed month never changes. What is learnt later counts in the month that is open then.</p>
${form(view, {
  action: `/months/${name}/close`,
  fields: [{ kind: 'sure', label: 'I have read what is open, and the figures of this month may be frozen' }],
  buttons: [{ name: 'Close the month' }],
})}`,
)}
<p>${to(['months', name], 'Back to the month')}</p>`;
}

/** What was paid, in all and by column, as CSV. */
export function paidColumnsCsv({ paid, columns }: MonthParts, reports: Config['reports']): string {
  return csvText(reports)(paidColumnSheet([...paid, ...columns]));
}

const csvColumns = [
  'reference',
  'account_name',
  'account_number',
  'bank_code',
  'amount',
  'currency',
  'batch',
  'row',
  'paid_at',
];

/**
 * Every paid row as CSV, a page at a time; with the names of banks where they are known. Of a closed month it leaves out what
 * may still be learnt of a payout, its fee and transfer id: what is read of a closed month never changes (P30).
 */
export async function* paidCsv(
  pages: AsyncIterable<readonly MonthPayment[]>,
  reports: Config['reports'],
  { account, banks, closed }: { account: (text: string) => string; closed: boolean } & Pick<View, 'banks'>,
): AsyncGenerator<string> {
  const text = csvText(reports);
  const learnt = closed ? [] : ['transfer_id', 'fee'];
  yield text([[...csvColumns, ...learnt, ...(banks ? ['bank_name'] : [])]]);
  for await (const page of pages)
    yield text(
      page.map((one) => [
        one.reference,
        one.account_name,
        account(one.account_number),
        one.bank_code,
        formatMinor(one.amount, one.currency),
        one.currency,
        one.batch_id,
        `${one.row_number}`,
        zoned(one.paid_at, reports.timezone),
        ...(closed ? [] : [one.transfer_id ?? '', one.fee ?? '']),
        ...(banks ? [banks.nameOf(one.bank_code) ?? ''] : []),
      ]),
    );
}
