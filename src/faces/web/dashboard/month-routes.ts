import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { DateTime } from 'luxon';
import { closedMonth } from '../../../books/closed-month.ts';
import { countFiltered } from '../../../books/discrepancies/discrepancies.sql.ts';
import { closedPeriods, findPeriod, lastPeriod } from '../../../books/periods.sql.ts';
import { readableMonth } from '../../../books/presentation.ts';
import { type Month, monthAfter, readMonth } from '../../../books/statement/months.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { Declined } from './actions.ts';
import type { View } from './frame.ts';
import {
  allPaidInMonth,
  approvalsIn,
  closedSpan,
  findEntry,
  isArchived,
  type MonthSpan,
  paidInMonth,
  paidSumsIn,
} from './months.sql.ts';
import { closeMonthView, type MonthFacts, monthsView, monthView, paidCsv } from './months-view.ts';
import { perPage, queryOf } from './query.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name: string } };

/** A year has so many approvals at most that are read on a page. */
const mostApprovals = 500;
/** So many payments of an open month are added up unless a person asks for all. */
const mostSummed = 10_000;
const everything = 1_000_000_000;
/** An open ledger does not go back further on the list. */
const mostOpen = 36;

/** The pages of months: what was paid, who approved, what is open, and the close. */
export function monthRoutes(scope: FastifyInstance, { deps, looks, send, viewFor }: Shared): void {
  const { reader, config, ledger, clock } = deps;
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

  async function factsOf(name: string, view: View, most = mostSummed): Promise<MonthFacts> {
    const period = await findPeriod(reader, name);
    const month = period ? null : readMonth(name, zone);
    const open = await openMonths();
    const isOpen = month !== null && open.some((one) => one.month === name);
    if (!period && !isOpen) throw new Declined(404, `There is no month ${name} in this ledger.`);
    const span: MonthSpan = period
      ? closedSpan(period)
      : { after: (await lastPeriod(reader))?.through_history ?? 0n, through: null, ...rangeOf(month) };
    const { figures, lastRun } = await looks.look();
    return {
      name,
      closed: period ? await closedMonth(reader, period) : null,
      sums: period ? [] : await paidSumsIn(reader, span, most),
      approvals: await approvalsIn(reader, span, mostApprovals),
      archived: await isArchived(reader, span),
      open: await countFiltered(reader, { states: ['open'] }),
      figures: figures.payouts,
      lastRun,
      mayClose: open[0]?.month === name && span.endsAt <= view.now,
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
    const isWhole = queryOf(request, 'sums') === 'all';
    const facts = await factsOf(request.params.name, view, isWhole ? everything : mostSummed);
    const before = /^\d{1,18}$/.exec(queryOf(request, 'before') ?? '')?.[0];
    const page = {
      limit: perPage + 1,
      before: before === undefined ? null : await findEntry(reader, before),
    };
    const rows = await paidInMonth(reader, facts.span, page);
    const main = monthView(facts, rows, view);
    const title = readableMonth(facts.name);
    return send(request, reply, { title, place: '/months', main, renews: 'still' });
  });

  const read = { config: { right: 'read' as const } };
  scope.get<Params>('/months/:name/paid.csv', read, async (request, reply) => {
    const { name, span } = await factsOf(request.params.name, await viewFor(request));
    const account = config.reports.maskAccounts ? maskAccount : (text: string) => text;
    reply.headers({ 'content-disposition': `attachment; filename="paid-${name}.csv"` });
    const text = paidCsv(allPaidInMonth(reader, span), config.reports, account);
    return reply.type('text/csv; charset=utf-8').send(Readable.from(text));
  });

  const decide = { config: { right: 'decide' as const } };
  scope.get<Params>('/months/:name/close', decide, async (request, reply) => {
    const view = await viewFor(request);
    const facts = await factsOf(request.params.name, view);
    if (!facts.mayClose) throw new Declined(409, `${readableMonth(facts.name)} cannot be closed now.`);
    const main = closeMonthView(facts, view);
    const title = `Close ${readableMonth(facts.name)}`;
    return send(request, reply, { title, place: '/months', main, renews: 'still' });
  });
}

function rangeOf(month: Month | null): Pick<MonthSpan, 'startsAt' | 'endsAt'> {
  return { startsAt: month?.startsAt ?? '', endsAt: month?.endsAt ?? '' };
}

function monthOf(instant: string, zone: string): string {
  return DateTime.fromISO(instant, { zone }).toFormat('yyyy-LL');
}
