import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DateTime } from 'luxon';
import {
  type ClosedMonth,
  closedMonth,
  frozenParts,
  type MonthParts,
  standingParts,
} from '../../../books/closed-month.ts';
import {
  allPaidInMonth,
  areManyPaid,
  closedSpan,
  findEntry,
  isArchived,
  type MonthSpan,
  paidInMonth,
} from '../../../books/month-facts.sql.ts';
import { closedPeriods, findPeriod, lastPeriod } from '../../../books/periods.sql.ts';
import { readableMonth, zoned } from '../../../books/presentation.ts';
import { type NotClosable, whyNotClosable } from '../../../books/statement/freeze-period.ts';
import { type Month, monthAfter, readMonth } from '../../../books/statement/months.ts';
import { unpaidRows, unpaidRowsWithin, unpaidTotals } from '../../../books/unpaid.sql.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import type { Period } from '../../../core/storage/tables/period-tables.ts';
import { newestCompleteRun } from '../../../watching/listing/listings.sql.ts';
import { Declined, declinedPage } from './actions.ts';
import {
  closeMonthView,
  type MonthFacts,
  monthsView,
  monthView,
  mostPrinted,
  paidColumnsCsv,
  paidCsv,
} from './months-view.ts';
import { perPage, queryOf } from './query.ts';
import type { Shared } from './shared.ts';
import { mostUnpaid } from './unpaid-view.ts';

type Params = { Params: { name: string } };

/** So many payments of an open month are added up unless a person asks for all. */
const mostSummed = 50_000;
/** An open ledger does not go back further on the list. */
const mostOpen = 36;

/** The pages of months: what was paid, who approved, what is open, and the close. */
export function monthRoutes(scope: FastifyInstance, { deps, looks, send, viewFor }: Shared): void {
  const { reader, config, ledger, clock, source } = deps;
  const zone = config.reports.timezone;

  /** The months that are not closed, the oldest first: the first is the next to close. */
  async function openMonths(): Promise<Month[]> {
    const last = await lastPeriod(reader);
    const months: Month[] = [];
    let name = last ? monthAfter(last.month) : monthOf(ledger.birth, zone);
    for (const now = clock.iso(); months.length < mostOpen; name = monthAfter(name)) {
      const month = readMonth(name, zone);
      if (!month || month.startsAt > now) break;
      months.push(month);
    }
    return months;
  }

  /** What is frozen; what an older version did not freeze of a closed month is read from its history. */
  async function partsOf(closed: ClosedMonth | null, span: MonthSpan, sums: boolean): Promise<MonthParts> {
    const frozen = closed ? await frozenParts(reader, closed) : null;
    const { paid, columns, approvals, open, left = [] } = frozen ?? {};
    if (paid && columns && approvals) return { paid, columns, approvals, open: open ?? null, left };
    const show = (instant: string): string => zoned(instant, zone);
    const { uniqueColumns: unique } = config.intake;
    const standing = await standingParts(reader, span, { show, sums: closed !== null || sums, unique });
    return { ...standing, ...frozen, open: closed ? (open ?? null) : standing.open };
  }

  /** The span of a month that is closed or open; throws where the ledger has none of that name. */
  async function spanOf(
    name: string,
  ): Promise<{ span: MonthSpan; period: Period | null; notClosable: NotClosable | null }> {
    const period = await findPeriod(reader, name);
    if (period) {
      const notClosable = { kind: 'closed' as const, month: name, at: period.closed_at };
      return { span: closedSpan(period), period, notClosable };
    }
    const open = await openMonths();
    const month = open.find((one) => one.month === name);
    if (!month) throw new Declined(404, `There is no month ${name} in this ledger.`);
    const { startsAt, endsAt } = month;
    const last = await lastPeriod(reader);
    const after = last?.through_history ?? 0n;
    const next = open[0]?.month ?? name;
    const notClosable =
      whyNotClosable(month, last, clock.iso(), zone) ??
      (next === name ? null : { kind: 'out_of_order' as const, next });
    return { span: { after, through: null, startsAt, endsAt }, period: null, notClosable };
  }

  /** When the newest complete list was read, which a close compares with. */
  async function wholeList(): Promise<string | null> {
    const run = await newestCompleteRun(reader, await foreignOrigins(reader, source.account));
    return run?.startedAt ?? null;
  }

  /** `whole`: what was paid in an open month is added up, however much that is. */
  async function factsOf(name: string, whole = false): Promise<MonthFacts> {
    const { span, period, notClosable } = await spanOf(name);
    const { figures, lastRun } = await looks.look();
    const closed = period ? await closedMonth(reader, period) : null;
    const isSummed = closed !== null || whole || !(await areManyPaid(reader, span, mostSummed));
    return {
      name,
      closed,
      parts: await partsOf(closed, span, isSummed),
      isSummed,
      archived: await isArchived(reader, span),
      figures: figures.payouts,
      unpaid: await unpaidTotals(reader, { before: span.endsAt }),
      notPaid: closed
        ? await unpaidRowsWithin(reader, { from: span.startsAt, to: span.endsAt, limit: mostUnpaid + 1 })
        : await unpaidRows(reader, { before: span.endsAt, limit: mostUnpaid + 1 }),
      lastRun,
      wholeList: closed ? null : await wholeList(),
      notClosable,
      span,
    };
  }

  scope.get('/months', async (request, reply) => {
    const closed = [];
    for (const period of (await closedPeriods(reader)).toReversed())
      closed.push(await closedMonth(reader, period));
    const open = (await openMonths()).toReversed();
    const main = monthsView({ closed, open }, await viewFor(request));
    return send(request, reply, { title: 'Months', place: '/months', main, renews: 'still' });
  });

  scope.get<Params>('/months/:name', async (request, reply) => {
    const view = await viewFor(request);
    const facts = await factsOf(request.params.name, queryOf(request, 'sums') === 'all');
    const from = /^\d{1,18}$/.exec(queryOf(request, 'before') ?? '')?.[0];
    const shown = queryOf(request, 'rows') === 'all' ? mostPrinted : perPage;
    const page = { limit: shown + 1, before: from === undefined ? null : await findEntry(reader, from) };
    const rows = await paidInMonth(reader, facts.span, page);
    const main = monthView(facts, { rows: rows.slice(0, shown), hasMore: rows.length > shown, shown }, view);
    const title = readableMonth(facts.name);
    return send(request, reply, { title, place: '/months', main, renews: 'still' });
  });

  const read = { config: { right: 'read' as const } };
  scope.get<Params>('/months/:name/paid.csv', read, async (request, reply) => {
    const { name } = request.params;
    const { span, period } = await spanOf(name);
    const account = config.reports.maskAccounts ? maskAccount : (text: string) => text;
    reply.headers({ 'content-disposition': `attachment; filename="paid-${name}.csv"` });
    const { banks } = await viewFor(request);
    const text = paidCsv(allPaidInMonth(reader, span), config.reports, {
      ...{ account, banks, closed: period !== null },
    });
    return reply.type('text/csv; charset=utf-8').send(Readable.from(text));
  });

  scope.get<Params>('/months/:name/totals-by-column.csv', read, async (request, reply) => {
    const { name, parts } = await factsOf(request.params.name, true);
    reply.headers({ 'content-disposition': `attachment; filename="totals-by-column-${name}.csv"` });
    return reply.type('text/csv; charset=utf-8').send(paidColumnsCsv(parts, config.reports));
  });

  const decide = { config: { right: 'decide' as const } };
  scope.get<Params>('/months/:name/close', decide, async (request, reply) => {
    const view = await viewFor(request);
    const facts = await factsOf(request.params.name);
    const { name, notClosable: why } = facts;
    if (why) throw declinedPage({ kind: 'not_closed', month: name, why });
    const expected = facts.isSummed ? await deps.desk.app.reporting.foreseeClose(reader, facts.name) : null;
    const main = closeMonthView(facts, expected, view);
    const title = `Close ${readableMonth(facts.name)}`;
    return send(request, reply, { title, place: '/months', main, renews: 'still' });
  });
}

function monthOf(instant: string, zone: string): string {
  return DateTime.fromISO(instant, { zone }).toFormat('yyyy-LL');
}
