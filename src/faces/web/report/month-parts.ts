import { type ClosedMonth, type MonthParts, mostLeft } from '../../../books/closed-month.ts';
import { maskTold, readableMonth } from '../../../books/presentation.ts';
import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import type { NamedCells } from '../../../books/sheet.ts';
import { differenceOf } from '../../../books/statement/difference.ts';
import {
  type CurrencyLines,
  isZero,
  lineOf,
  linesByCurrency,
  minus,
} from '../../../books/statement/statement-figures.ts';
import { amountText, grouped } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { isCompared } from '../../../core/domain/verdict.ts';
import {
  differenceWords,
  lineWords,
  paidEarlierWords,
  paidFeesNote,
  paidFeesWords,
} from '../../../words/line-words.ts';
import { type Html, html } from '../kit/html.ts';
import { separated } from '../kit/parts.ts';
import { type HtmlCell, type HtmlColumn, wideTable } from '../kit/table.ts';
import { localTimes } from './page-words.ts';

/** The parts that report.html of a closed month and the desk's page of any month share. */

/** What was paid in each currency: the rows, what ties them to net paid, and how far the list is from that. */
export function paidTotals(
  paid: readonly NamedCells[],
  { statement, verdicts }: { statement: readonly NamedCells[]; verdicts: readonly RunVerdict[] },
): Html {
  const lines = linesByCurrency(statement);
  const currencies = [...new Set([...paid.map(({ currency = '' }) => currency), ...lines.keys()])].toSorted();
  if (currencies.length === 0) return html`<p>Nothing was paid.</p>\n`;
  // An older version froze no payees.
  const hasPayees = paid.some(({ payees = '' }) => payees !== '');
  const rows = currencies.map((currency): HtmlCell[] => {
    const {
      count = '0',
      amount = '0',
      fees = '',
      payees = '',
    } = paid.find((one) => one.currency === currency) ?? {};
    const own = lines.get(currency);
    const rest = own
      ? closedCells(
          amount,
          own,
          verdicts.find((one) => one.currency === currency),
        )
      : [grouped(fees)];
    return [currency, grouped(count), ...(hasPayees ? [grouped(payees)] : []), grouped(amount), ...rest];
  });
  const ofOpen = [paidFeesWords];
  const ofClosed = [paidEarlierWords, lineWords.net_paid, lineWords.fees, differenceWords];
  const more = lines.size > 0 ? ofClosed : ofOpen;
  const numbers = ['Paid payouts', ...(hasPayees ? ['Payees'] : []), 'Amount', ...more].map((number) => ({
    number,
  }));
  return wideTable('Total', ['Currency', ...numbers], rows);
}

function closedCells(paid: string, lines: CurrencyLines, judged: RunVerdict | undefined): string[] {
  const net = lineOf(lines, 'net_paid').amount;
  const earlier = minus(net, paid);
  const difference = judged && isCompared(judged.verdict) ? differenceOf(lines).amount : 'not compared';
  return [
    isZero({ count: 0n, amount: earlier }) ? '–' : grouped(earlier),
    grouped(net),
    grouped(lineOf(lines, 'fees').amount),
    grouped(difference),
  ];
}

/** What was paid by each column of the files that has few values. An older version froze no fees. */
export function paidByColumns(columns: readonly NamedCells[]): { title: string; table: Html }[] {
  const hasFees = columns.some(({ fees = '' }) => fees !== '');
  const numbers = ['Payouts', 'Paid', ...(hasFees ? [paidFeesWords] : [])].map((number) => ({ number }));
  const groups = [...Map.groupBy(columns, ({ column = '' }) => column)];
  return groups.map(([column, rows], index) => {
    const title = `Paid by ${column}`;
    const cells = rows.map(({ value = '', count = '', currency = '', amount = '', fees = '' }) => [
      value,
      grouped(count),
      amountText(currency, amount),
      ...(hasFees ? [amountText(currency, fees)] : []),
    ]);
    const note = hasFees && index === groups.length - 1 && html`<p class="soft">${paidFeesNote}</p>`;
    return { title, table: html`${wideTable(title, [column, ...numbers], cells)}${note}` };
  });
}

const approvalColumns: readonly HtmlColumn[] = [
  'Batch',
  'Dropped by',
  'Approved by',
  'When',
  { number: 'Payouts' },
  { number: 'Total' },
];

/** Who dropped and who approved what, and when. */
export function approvalTable(
  approvals: readonly NamedCells[],
  { batch, time }: { batch: (id: string) => HtmlCell; time: (instant: string) => HtmlCell },
): Html {
  if (approvals.length === 0)
    return html`<p>No approval was given in this month. Batches that need none are not listed here.</p>\n`;
  const given = Map.groupBy(approvals, (one) => `${one.batch} ${one.approved_at} ${one.approved_by}`);
  const rows = [...given.values()].flatMap(([one, ...others]) => {
    if (!one) return [];
    const totals = [one, ...others].map(({ currency = '', amount = '' }) => amountText(currency, amount));
    const who = [one.dropped_by || 'not recorded', one.approved_by ?? ''];
    const count = grouped(one.batch_rows ?? '');
    return [[batch(one.batch ?? ''), ...who, time(one.approved_at ?? ''), count, separated(totals)]];
  });
  return wideTable('Approvals', approvalColumns, rows);
}

/** What waited for a person when the month was closed: discrepancies by kind, then the rows of each line. */
export function openAtClose(
  { open = null, left }: Partial<MonthParts> & Pick<MonthParts, 'left'>,
  zone: string,
  { batch, payout }: { batch: (id: string) => HtmlCell; payout: (reference: string) => HtmlCell },
): Html {
  const kinds = (open ?? []).map(({ kind = '', count = '' }) => `${plainKind(kind)}: ${grouped(count)}`);
  const said =
    open === null
      ? 'An older version closed this month. It did not keep which discrepancies were open.'
      : kinds.length > 0
        ? `Discrepancies of any month that were not resolved: ${kinds.join(', ')}.`
        : 'No discrepancy was open.';
  const rows = left.flatMap(({ line, rows: some }) =>
    some.map((one) => [
      lineWords[line],
      // What is not ours has no batch, and no page.
      one.reference && one.batch ? payout(one.reference) : one.reference || one.transfer_id || '–',
      one.batch ? batch(one.batch) : '–',
      one.amount === '' ? '–' : amountText(one.currency ?? '', one.amount ?? ''),
      localTimes(maskTold(one.why ?? ''), zone),
    ]),
  );
  const isCut = left.some(({ rows: some }) => some.length >= mostLeft);
  const table = wideTable(
    'Open at the close',
    ['Line', 'Payout', 'Batch', { number: 'Amount' }, 'Why'],
    rows,
  );
  return html`<p>${said}</p>
${rows.length > 0 ? table : html`<p>No payout was under way, and no line of the statement waited.</p>\n`}${isCut && html`<p>At most ${mostLeft} rows of a line stand here. statement-rows.csv has all.</p>\n`}`;
}

/** Two persons sign, each with a name and a date, under what they sign: it may stand on a sheet of its own. */
export function signLines(month: string, closed: Pick<ClosedMonth, 'period' | 'statement'> | null): Html {
  const sums = [...linesByCurrency(closed?.statement ?? [])].map(([currency, lines]) =>
    amountText(currency, lineOf(lines, 'net_paid').amount),
  );
  const paid = sums.length > 0 ? `, ${lineWords.net_paid} ${sums.join(', ')}` : '';
  const what = closed ? `${paid}, digest ${closed.period.digest.slice(0, 12)}` : ', not closed';
  return html`<div class="sign"><p class="of">${readableMonth(month)}${what}</p>${['Prepared by', 'Reviewed by'].map((who) => html`<p>${who} (name)</p><p>Signature</p><p>Date</p>`)}</div>\n`;
}
