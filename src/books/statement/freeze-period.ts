import type { ServiceAccount } from '../../core/domain/origin.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import { newestHistory } from '../../core/ledger/history.ts';
import { foreignOrigins } from '../../core/ledger/origins.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import type { Period } from '../../core/storage/tables/period-tables.ts';
import { newestCompleteRun } from '../../watching/listing/listings.sql.ts';
import { reasonText } from '../../words/advice-text.ts';
import { findRun } from '../batch-results.sql.ts';
import { countOpen } from '../discrepancies/discrepancies.sql.ts';
import {
  addPeriodRows,
  addPeriodTransfers,
  insertPeriod,
  lastEntryBefore,
  lastPeriod,
  listingOf,
} from '../periods.sql.ts';
import { zoned } from '../presentation.ts';
import { placedFrom } from '../run-sheets.sql.ts';
import { computeStatement } from './compute-statement.ts';
import type { About } from './entry.ts';
import { type Month, monthAfter, readMonth } from './months.ts';
import { entrySheet, type StatementRow, statementSheet } from './statement.ts';
import type { StatementLine } from './statement-lines.ts';

/** `refused`: nothing was done, and why. `statement`: the rows of statement.csv. */
export type ClosedPeriod =
  | { kind: 'refused'; why: string }
  | { kind: 'closed'; period: Period; statement: StatementRow[]; warnings: string[] };

/**
 * Closes a month permanently (P30): stores its statement, its last history entry and its listing. One transaction, so that
 * a crash leaves nothing or all. Whatever is recorded later belongs to the month that is open then. `by`: the account name
 * of the person.
 */
export function createClosePeriod(deps: { ledger: Ledger; config: Config; account?: ServiceAccount | null }) {
  const { ledger, config, account = null } = deps;
  const { mode } = config;
  const zone = config.reports.timezone;

  return async function closePeriod(text: string, now: string, by: string): Promise<ClosedPeriod> {
    const month = readMonth(text, zone);
    if (!month)
      return { kind: 'refused', why: `"${text}" is no month: write it as YYYY-MM, such as 2026-10` };
    return ledger.write(async (trx) => {
      const last = await lastPeriod(trx);
      const why = whyNot(month, last, now, zone) ?? (await whyNotNow(trx));
      if (why !== null) return { kind: 'refused', why };
      return close(trx, month, last, { now, by });
    });
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
    await addPeriodRows(trx, key, 'statement', placedFrom(0, statementSheet.all(statement)));
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
    const warnings = [...heard, ...unresolved(statement), ...(await openLines(trx))];
    return { kind: 'closed', period, statement, warnings };
  }

  /** The cuts of the month, and warnings about the listing that represents the service. */
  async function aboutMonth(
    trx: Trx,
    { endsAt }: Month,
    last: Period | undefined,
  ): Promise<{ about: About; heard: string[] }> {
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
    };
    const again = 'counterfoil reconcile --full before closing makes one';
    if (!run)
      return { about, heard: [`no complete list was ever read, so that nothing is compared: ${again}`] };
    const early = run.started_at < endsAt;
    return {
      about,
      heard: early
        ? [`the newest complete list is of ${about.show(run.started_at)}, before the month ended: ${again}`]
        : [],
    };
  }

  /** Refuses a ledger that may have forgotten payments: its figures would be permanently wrong (P25). */
  async function whyNotNow(trx: Trx): Promise<string | null> {
    const barrier = await findBarrier(trx);
    return barrier ? `${reasonText(barrier)}. Until then no month is closed` : null;
  }

  async function openLines(trx: Trx): Promise<string[]> {
    const open = Object.entries(await countOpen(trx));
    if (open.length === 0) return [];
    const kinds = open.map(([kind, n]) => `${n} ${kind}`).join(', ');
    return [`open discrepancies: ${kinds}. Next: counterfoil discrepancies`];
  }
}

/** Refuses unless the month has ended, the one before it is closed, and it is not closed yet. */
function whyNot(
  { month, endsAt }: Month,
  last: Period | undefined,
  now: string,
  zone: string,
): string | null {
  if (now < endsAt) {
    const day = zoned(endsAt, zone).slice(0, 10);
    return `${month} is not over: it can be closed from ${day} on (${zone})`;
  }
  if (!last) return null;
  if (month === last.month) return `${month} was closed at ${last.closed_at}; a closed month never changes`;
  const next = monthAfter(last.month);
  if (month < last.month)
    return `${last.month} is closed already, so that ${month} is part of what is closed: the next is ${next}`;
  return month === next ? null : `months are closed in order: the next is ${next}`;
}

const needing: Partial<Record<StatementLine, string>> = {
  in_flight: 'still under way when the month ended; the next month opens with them',
  unknown: 'unknown when the month ended: they may be paid; the next month opens with them',
  unseen: 'sent, and not listed by the service',
  duplicates: 'listed more than once for the same payout',
  status_conflicts: 'in another state on the list than here',
  collisions: 'listed under a reference that was never sent',
  open_conflicts: 'in a conflict that is not resolved: see statement-rows.csv',
  unexplained: 'not explained: see statement-rows.csv',
  unreadable: 'listed with an amount that cannot be read: see statement-rows.csv',
};

function unresolved(statement: StatementRow[]): string[] {
  return statement.flatMap(({ currency, line, count, amount }) => {
    const what = needing[line];
    return what === undefined || count === 0n ? [] : [`${count} (${`${currency} ${amount}`.trim()}) ${what}`];
  });
}
