import type { AdvisedReason } from '../../core/domain/advice.ts';
import { unresolvedStates } from '../../core/domain/discrepancy-life.ts';
import { formatMinor } from '../../core/domain/money.ts';
import type { ServiceAccount } from '../../core/domain/origin.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import { newestHistory } from '../../core/ledger/history.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';
import type { Period } from '../../core/storage/tables/period-tables.ts';
import { newestCompleteRun } from '../../watching/listing/listings.sql.ts';
import { findRun } from '../batch-results.sql.ts';
import { paidByColumn } from '../column-totals.sql.ts';
import { countOpen } from '../discrepancies/discrepancies.sql.ts';
import type { FrozenWords } from '../frozen-words.ts';
import { approvalRows } from '../month-facts.sql.ts';
import {
  addPeriodRows,
  addPeriodTransfers,
  insertPeriod,
  lastEntryBefore,
  lastPeriod,
  listingOf,
  type PeriodSheet,
} from '../periods.sql.ts';
import { zoned } from '../presentation.ts';
import { placedFrom } from '../run-sheets.sql.ts';
import { type UnpaidState, unpaidTotals } from '../unpaid.sql.ts';
import { computeStatement } from './compute-statement.ts';
import type { About } from './entry.ts';
import { type Month, monthAfter, readMonth } from './months.ts';
import { entrySheet, type StatementRow, statementSheet } from './statement.ts';

/** Lines of the statement that a person must look at when a month is closed with them. */
export const warnedLines = [
  'in_flight',
  'unknown',
  'unseen',
  'foreign',
  'amount_differences',
  'duplicates',
  'status_conflicts',
  'collisions',
  'open_conflicts',
  'unexplained',
  'unreadable',
] as const;
export type WarnedLine = (typeof warnedLines)[number];

/** Why a month is not closed. `from`: the day on which it can be. `next`: the month whose turn it is. */
export type NotClosable =
  | { kind: 'no_month'; text: string }
  | { kind: 'not_over'; month: string; from: string; zone: string }
  | { kind: 'closed'; month: string; at: string }
  | { kind: 'part_of_closed'; month: string; last: string; next: string }
  | { kind: 'out_of_order'; next: string }
  /** The ledger may have forgotten payments: its figures would be permanently wrong (P25). */
  | ({ kind: 'barrier' } & AdvisedReason);

/**
 * What a month was closed in spite of. `of`: when the newest complete list was read. `unpaid`: after the close nobody is
 * asked about those of the month. `kinds`: how many are not resolved.
 */
export type PeriodWarning =
  | { kind: 'no_list' }
  | { kind: 'early_list'; of: string }
  | { kind: 'line'; line: WarnedLine; currency: string; count: bigint; amount: string }
  | { kind: 'unpaid'; state: UnpaidState; currency: string; count: bigint; amount: string }
  | { kind: 'open'; kinds: Readonly<Record<string, number>> };

/** `refused`: nothing was done, and why. `statement`: the rows of statement.csv. */
export type ClosedPeriod =
  | { kind: 'refused'; why: NotClosable }
  | { kind: 'closed'; period: Period; statement: StatementRow[]; warnings: PeriodWarning[] };

/**
 * Closes a month permanently (P30): stores its statement, its last history entry and its listing. One transaction, so that
 * a crash leaves nothing or all. Whatever is recorded later belongs to the month that is open then. `by`: the account name
 * of the person.
 */
export function createClosePeriod(deps: {
  ledger: Ledger;
  config: Config;
  account?: ServiceAccount | null;
  words: FrozenWords;
}) {
  const { ledger, config, account = null, words } = deps;
  const { mode } = config;
  const zone = config.reports.timezone;

  return {
    async close(text: string, now: string, by: string): Promise<ClosedPeriod> {
      const month = readMonth(text, zone);
      if (!month) return { kind: 'refused', why: { kind: 'no_month', text } };
      return ledger.write(async (trx) => {
        const last = await lastPeriod(trx);
        const why = whyNotClosable(month, last, now, zone) ?? (await barrierOf(trx));
        if (why) return { kind: 'refused', why };
        return close(trx, month, last, { now, by });
      });
    },
    /** The lines of the statement about which a close would warn now. Takes as long as a close. */
    async foresee(db: Db, text: string): Promise<PeriodWarning[]> {
      const month = readMonth(text, zone);
      if (!month) return [];
      const { about } = await aboutMonth(db, month, await lastPeriod(db));
      const { rows } = await computeStatement(db, about, { rows: async () => undefined });
      return unresolved(rows);
    },
  };

  async function close(
    trx: Trx,
    month: Month,
    last: Period | undefined,
    { now, by }: { now: string; by: string },
  ): Promise<ClosedPeriod> {
    const { about, heard } = await aboutMonth(trx, month, last);
    const key = { month: month.month };
    await addPeriodRows(trx, key, 'statement-rows', placedFrom(0, [entrySheet.header]));
    const { rows: statement } = await computeStatement(trx, about, {
      rows: (rows) => addPeriodRows(trx, key, 'statement-rows', rows),
      transfers: (ids) => addPeriodTransfers(trx, key, ids),
    });
    const kinds = await countOpen(trx, unresolvedStates);
    // Before the period stands: it would count as closed over.
    const ended = await unpaidTotals(trx, { before: month.endsAt });
    const unpaid = ended.map(({ state, currency, count, minor }): PeriodWarning => {
      return { kind: 'unpaid', state, currency, count, amount: formatMinor(minor, currency) };
    });
    const { from: after, through } = about.span;
    const span = { after, through, startsAt: last?.ends_at ?? month.startsAt, endsAt: month.endsAt };
    const sheets: Partial<Record<PeriodSheet, string[][]>> = {
      statement: statementSheet.all(statement),
      'totals-by-column': await paidByColumn(trx, span, config.intake.uniqueColumns),
      approvals: await approvalRows(trx, span, about.show),
      'open-discrepancies': openKindRows(kinds),
    };
    for (const [sheet, rows] of Object.entries(sheets))
      await addPeriodRows(trx, key, sheet, placedFrom(0, rows));
    const period = await insertPeriod(trx, {
      ...key,
      starts_at: last?.ends_at ?? month.startsAt,
      ends_at: month.endsAt,
      timezone: zone,
      from_history: about.span.from,
      through_history: about.span.through,
      closed_at: now,
      closed_by: by,
      run_id: about.listing?.run ?? null,
    });
    const warnings = [...heard, ...unresolved(statement), ...unpaid, ...openWarning(kinds)];
    return { kind: 'closed', period, statement, warnings };
  }

  /** The cuts of the month, and warnings about the listing that represents the service. */
  async function aboutMonth(
    trx: Db | Trx,
    { endsAt }: Month,
    last: Period | undefined,
  ): Promise<{ about: About; heard: PeriodWarning[] }> {
    const complete = await newestCompleteRun(trx, await foreignOrigins(trx, account));
    const run = complete && (await findRun(trx, complete.id));
    const from = last?.through_history ?? 0n;
    const about: About = {
      mode,
      span: { from, through: await lastEntryBefore(trx, from, endsAt) },
      known: await newestHistory(trx),
      listing: run ? listingOf(run, config.reconciliation.missingGraceMinutes) : null,
      since: config.reconciliation.since || ledger.birth,
      until: endsAt,
      show: (instant) => zoned(instant, zone),
      words,
    };
    if (!run) return { about, heard: [{ kind: 'no_list' }] };
    const of = about.show(run.started_at);
    return { about, heard: run.started_at < endsAt ? [{ kind: 'early_list', of }] : [] };
  }
}

async function barrierOf(trx: Trx): Promise<NotClosable | null> {
  const barrier = await findBarrier(trx);
  return barrier ? { kind: 'barrier', ...barrier } : null;
}

/** Refuses unless the month has ended, the one before it is closed, and it is not closed yet. */
export function whyNotClosable(
  { month, endsAt }: Month,
  last: Period | undefined,
  now: string,
  zone: string,
): NotClosable | null {
  if (now < endsAt) return { kind: 'not_over', month, from: zoned(endsAt, zone).slice(0, 10), zone };
  if (!last) return null;
  if (month === last.month) return { kind: 'closed', month, at: last.closed_at };
  const next = monthAfter(last.month);
  if (month < last.month) return { kind: 'part_of_closed', month, last: last.month, next };
  return month === next ? null : { kind: 'out_of_order', next };
}

function unresolved(statement: StatementRow[]): PeriodWarning[] {
  return statement.flatMap(({ line: own, currency, count, amount }) => {
    const line = warnedLines.find((one) => one === own);
    return line === undefined || count === 0n ? [] : [{ kind: 'line', line, currency, count, amount }];
  });
}

/** Discrepancies by kind as a sheet, the header first. */
export function openKindRows(kinds: Readonly<Record<string, number>>): string[][] {
  return [['kind', 'count'], ...Object.entries(kinds).map(([kind, count]) => [kind, `${count}`])];
}

function openWarning(kinds: Readonly<Record<string, number>>): PeriodWarning[] {
  return Object.keys(kinds).length === 0 ? [] : [{ kind: 'open', kinds }];
}
