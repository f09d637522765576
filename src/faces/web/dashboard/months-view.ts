import type { ClosedMonth } from '../../../books/closed-month.ts';
import { periodFolder } from '../../../books/closed-month.ts';
import type { countFiltered } from '../../../books/discrepancies/discrepancies.sql.ts';
import { readableMonth, zoned } from '../../../books/presentation.ts';
import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import type { Month } from '../../../books/statement/months.ts';
import { amountText, counted } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { listSentence } from '../../../words/list-words.ts';
import { hasRight } from '../../admin/access.ts';
import type { LedgerFigures } from '../../admin/ledger-figures.sql.ts';
import { csvText } from '../../files/csv-writer.ts';
import { type Html, html } from '../kit/html.ts';
import { separated } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { form, whoMay } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import type { approvalsIn, MonthPayment, MonthSpan, paidSumsIn } from './months.sql.ts';
import { onwards } from './pages.ts';
import {
  amount,
  bankText,
  countText,
  exactAmount,
  facts,
  panel,
  stateText,
  time,
  to,
  verdictText,
} from './parts.ts';
import { addressOf, perPage } from './query.ts';
import { statementTable } from './runs-view.ts';

export type MonthFacts = {
  name: string;
  /** The frozen month; null while it is open. */
  closed: ClosedMonth | null;
  /** What was paid in an open month so far; null where that was too much to add up. */
  sums: Awaited<ReturnType<typeof paidSumsIn>>;
  approvals: Awaited<ReturnType<typeof approvalsIn>>;
  /** Whether an archive has rows of it. */
  archived: boolean;
  /** Open discrepancies of any month: a close is in spite of them. */
  open: Awaited<ReturnType<typeof countFiltered>>;
  figures: LedgerFigures['payouts'];
  lastRun: LastRun | null;
  /** Whether it is over, and the next to close. */
  mayClose: boolean;
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

/** A month to read, to print and to sign. */
export function monthView(month: MonthFacts, rows: readonly MonthPayment[], view: View): Html {
  const { name, closed, span, mayClose } = month;
  const shown = rows.slice(0, perPage);
  const last = rows.length > perPage ? shown.at(-1) : undefined;
  const older = last && addressOf(`/months/${name}`, { before: `${last.entry}` });
  return html`<h1>${readableMonth(name)}</h1>
${panel(
  closed ? 'Closed' : 'Not closed',
  html`${closed ? closedFacts(closed, view) : openFacts(month, view)}
${mayClose && html`<p>${hasRight(view.caller, 'decide') ? html`<a class="go" href="/months/${name}/close">Close this month…</a>` : whoMay(view, 'decide')}</p>`}`,
)}
${closed && panel('Statement', statementTable(closed.statement))}
${!closed && panel('What is open', openPart(month, view))}
${panel('Approvals', approvalsTable(month, view))}
${panel(
  'Paid',
  html`${paidTable(shown, month, view)}
${seesBank(view) && shown.length > 0 && html`<p class="screen"><a href="/months/${name}/paid.csv">CSV of every paid row</a></p>`}`,
)}
${onwards(older ?? null)}
<div class="sign"><p>Prepared by</p><p>Reviewed by</p><p>Date</p></div>
<p class="soft">From ${time(span.startsAt, view)} up to ${time(span.endsAt, view)}.</p>`;
}

function closedFacts({ period, comparedAt, list, verdicts, whole }: ClosedMonth, view: View): Html {
  const each = verdicts.map(({ currency, verdict }) => html`${currency} ${verdictText(verdict)}`);
  return html`${facts([
    ['Verdict', each.length > 0 ? separated(each) : verdictText(whole)],
    ['Closed by', html`${period.closed_by}, ${time(period.closed_at, view)}`],
    [
      'Compared with',
      comparedAt === null
        ? listSentence(list)
        : html`the list of ${time(comparedAt, view)}. ${listSentence(list)}`,
    ],
    ['Digest', html`<code>${period.digest}</code>`],
  ])}
<p>These figures never change. What is learnt later counts in the month that is open then. ${to(['reports', periodFolder(period.month), 'report.html'], 'The frozen report')}</p>`;
}

function openFacts({ name, sums, span }: MonthFacts, view: View): Html {
  const paid = sums?.map(
    ({ currency, count, minor }) => html`<div>${amount(currency, minor)}, ${counted(count, 'payout')}</div>`,
  );
  const many = html`too many to add up at once. <a href="/months/${name}?sums=all">Add them up</a>`;
  const isOver = span.endsAt <= view.now;
  return html`${facts([['Paid', paid?.length === 0 ? 'nothing yet' : html`${paid ?? many}`]])}
<p>${isOver ? 'The month is over.' : 'The month goes on.'} These figures may change until it is closed.</p>`;
}

/** What a close would be in spite of. */
function openPart({ open, figures, lastRun }: MonthFacts, view: View): Html {
  const waits = figures.filter(
    ({ state, count }) => count > 0 && (state === 'pending' || state === 'sending' || state === 'unknown'),
  );
  const under = waits.map(
    ({ state, currency, count, amount: minor }) =>
      html`<li>${counted(count, 'payout')} ${stateText(state)}: ${amount(currency, minor)}</li>`,
  );
  const kinds = [...Map.groupBy(open, ({ kind }) => kind)].map(([kind, some]) => {
    const count = some.reduce((sum, { n }) => sum + Number(n), 0);
    return html`<li><a href="/discrepancies?kind=${kind}">${plainKind(kind)}</a>: ${countText(count)}</li>`;
  });
  const items = [...under, ...kinds];
  const compared = lastRun
    ? html`<p>The last reconciliation began ${time(lastRun.startedAt, view)}: ${verdictText(lastRun.verdict)}.</p>`
    : html`<p class="warn">Nothing was compared with the service yet.</p>`;
  return html`${items.length > 0 ? html`<ul>${items}</ul>` : html`<p>No payout is under way, and no discrepancy is open.</p>`}${compared}`;
}

function approvalsTable({ approvals }: MonthFacts, view: View): Html {
  if (approvals.length === 0) return html`<p>No batch was approved in this month.</p>`;
  const rows = approvals.map(({ batch_id: batch, approved_by: by, approved_at: at, row_count, totals }) => [
    to(['batches', batch], batch),
    by,
    time(at, view),
    countText(row_count),
    totalsOf(totals),
  ]);
  const columns = ['Batch', 'Approved by', 'When', { number: 'Payouts' }, { number: 'Total' }];
  return wideTable('Approvals', columns, rows);
}

/** The totals that an approval covered, stored as JSON. */
function totalsOf(stored: string): Html {
  const totals: unknown = JSON.parse(stored);
  const pairs = Object.entries(totals ?? {}).map(([currency, total]) => amountText(currency, String(total)));
  return separated(pairs);
}

function paidTable(rows: readonly MonthPayment[], { archived }: MonthFacts, view: View): Html {
  const gone = html`${archived && html`<p class="warn">An archive has rows of this month: they are not all in this list.</p>`}`;
  if (rows.length === 0) return html`${gone}<p>No paid row is in this ledger.</p>`;
  const cells = rows.map((one) => [
    to(['payouts', one.reference], one.reference),
    seesBank(view) ? one.account_name : 'hidden',
    `${seesBank(view) ? one.account_number : maskAccount(one.account_number)} · ${bankText(one.bank_code, view)}`,
    exactAmount(one.currency, one.amount),
    time(one.paid_at, view),
    to(['batches', one.batch_id], one.batch_id),
  ]);
  const columns = ['Reference', 'Payee', 'Account', { number: 'Amount' }, 'Known as paid', 'Batch'];
  return html`${gone}${wideTable('Paid rows', columns, cells)}`;
}

/** What the person closes the month in spite of, and one box. */
export function closeMonthView(month: MonthFacts, view: View): Html {
  const { name } = month;
  return html`<h1>Close ${readableMonth(name)}</h1>
${panel('What is open', openPart(month, view))}
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

const csvColumns = [
  'reference',
  'account_name',
  'account_number',
  'bank_code',
  'amount',
  'currency',
  'batch',
  'row',
  'transfer_id',
  'fee',
  'paid_at',
];

/** Every paid row as CSV, a page at a time. */
export async function* paidCsv(
  pages: AsyncIterable<readonly MonthPayment[]>,
  reports: Config['reports'],
  account: (text: string) => string,
): AsyncGenerator<string> {
  const text = csvText(reports);
  yield text([csvColumns]);
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
        one.transfer_id ?? '',
        one.fee ?? '',
        zoned(one.paid_at, reports.timezone),
      ]),
    );
}
