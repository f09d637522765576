import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { graceBegan, graceEnds } from '../core/domain/grace.ts';
import { tell } from '../core/ledger/events.ts';
import { inParts, keyset } from '../core/storage/keyset.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Period } from '../core/storage/tables/period-tables.ts';
import type { Run } from '../core/storage/tables/tables.ts';
import type { PlacedRow } from './run-sheets.sql.ts';
import type { UsedListing } from './statement-facts.sql.ts';

const pageSize = 1000;

export function lastPeriod(db: Db | Trx): Promise<Period | undefined> {
  return db.selectFrom('periods').selectAll().orderBy('month', 'desc').limit(1).executeTakeFirst();
}

export function findPeriod(db: Db | Trx, month: string): Promise<Period | undefined> {
  return db.selectFrom('periods').selectAll().where('month', '=', month).executeTakeFirst();
}

/** Every closed month, the oldest first: a few a year. */
export function closedPeriods(db: Db): Promise<Period[]> {
  return db.selectFrom('periods').selectAll().orderBy('month').execute();
}

/**
 * The last history entry before the instant `until`. Recording order decides, not the clock (P30). If the clock jumped,
 * the boundary leaves the fewest entries on the wrong side.
 */
export async function lastEntryBefore(db: Db, from: bigint, until: string): Promise<bigint> {
  const { rows } = await sql<{ id: bigint; early: bigint }>`
    select w.id, w.early from (select h.id, sum(case when h.at < ${until} then 1 else -1 end) over (order by h.id) as early
      from history h where h.id > ${from}) w
    order by w.early desc, w.id limit 1`.execute(db);
  const [best] = rows;
  return best && best.early > 0n ? best.id : from;
}

/** A run's listing for a statement; `graceMinutes`: how long after its send a payout need not be listed. */
export function listingOf(run: Run, graceMinutes: number): UsedListing {
  const { base_run_id, edge, started_at: startedAt, list_cut: cut } = run;
  const base = base_run_id !== null && edge !== null ? { run: base_run_id, edge } : null;
  const endedBy = graceBegan(cut ?? startedAt, startedAt, graceMinutes);
  const { history_mark: mark, list_standing: standing } = run;
  const stampsUntil = graceEnds(startedAt, graceMinutes);
  return { run: run.id, base, startedAt, mark, standing, endedBy, stampsUntil };
}

export type PeriodKey = Pick<Period, 'month'>;

export async function addPeriodRows(
  trx: Trx,
  { month }: PeriodKey,
  sheet: string,
  rows: PlacedRow[],
): Promise<void> {
  for (const some of inParts(rows, pageSize)) {
    const values = some.map(({ position, cells }) => {
      return { month, sheet, position, cells: JSON.stringify(cells) };
    });
    await trx.insertInto('period_rows').values(values).execute();
  }
}

/** Records the listed transfers that this month counts. One that another month counts stays with that month. */
export async function addPeriodTransfers(trx: Trx, { month }: PeriodKey, ids: string[]): Promise<void> {
  for (const some of inParts(ids, pageSize))
    await trx
      .insertInto('period_transfers')
      .values(some.map((transfer_id) => ({ month, transfer_id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
}

/** Closes the month permanently with its present rows. From then on triggers forbid changes. */
export async function insertPeriod(trx: Trx, period: Omit<Period, 'digest'>): Promise<Period> {
  const closed = { ...period, digest: await periodDigest(trx, period) };
  await trx.insertInto('periods').values(closed).execute();
  const data = { month: closed.month, digest: closed.digest };
  await tell(trx, closed.closed_at, [{ type: 'month.closed', data }]);
  return closed;
}

/** SHA-256 over the cuts of a month, who closed it and when, its rows and the transfers it counted. */
export async function periodDigest(db: Db | Trx, period: Omit<Period, 'digest'>): Promise<string> {
  const hash = createHash('sha256');
  const { month, starts_at, ends_at, timezone, closed_at, closed_by, run_id } = period;
  const spans = [period.from_history.toString(), period.through_history.toString()];
  hash.update(
    `${JSON.stringify([month, starts_at, ends_at, timezone, ...spans, closed_at, closed_by, run_id])}\n`,
  );
  for (const sheet of periodSheets)
    for await (const page of periodRows(db, period, sheet))
      for (const { position, cells } of page) hash.update(`${sheet} ${position} ${cells}\n`);
  const transfers = keyset<{ transfer_id: string }>(pageSize, (last) =>
    db
      .selectFrom('period_transfers')
      .select('transfer_id')
      .where('month', '=', month)
      .where('transfer_id', '>', last?.transfer_id ?? '')
      .orderBy('transfer_id')
      .limit(pageSize)
      .execute(),
  );
  for await (const page of transfers)
    for (const { transfer_id } of page) hash.update(`${JSON.stringify(transfer_id)}\n`);
  return hash.digest('hex');
}

/** The sheets of a closed month, each a CSV file of that name. A month that an older version closed lacks the last ones. */
export const periodSheets = [
  'statement',
  'statement-rows',
  'totals-by-column',
  'approvals',
  'open-discrepancies',
] as const;
export type PeriodSheet = (typeof periodSheets)[number];

/** The sheets that a closed month has. */
export async function sheetsOfPeriod(db: Db, { month }: PeriodKey): Promise<PeriodSheet[]> {
  const rows = await db
    .selectFrom('period_rows')
    .select('sheet')
    .distinct()
    .where('month', '=', month)
    .execute();
  return periodSheets.filter((name) => rows.some(({ sheet }) => sheet === name));
}

/** The first frozen rows of a sheet from one position up to another. */
export function periodRowsWithin(
  db: Db,
  { month }: PeriodKey,
  sheet: PeriodSheet,
  { from, before, limit }: { from: bigint; before: bigint; limit: number },
): Promise<{ cells: string }[]> {
  return db
    .selectFrom('period_rows')
    .select('cells')
    .where('month', '=', month)
    .where('sheet', '=', sheet)
    .where('position', '>=', from)
    .where('position', '<', before)
    .orderBy('position')
    .limit(limit)
    .execute();
}

/** The frozen rows of a sheet in order, each a JSON array of texts, a page at a time. */
export function periodRows(db: Db | Trx, { month }: PeriodKey, sheet: string) {
  return keyset<{ position: bigint; cells: string }>(pageSize, (last) =>
    db
      .selectFrom('period_rows')
      .select(['position', 'cells'])
      .where('month', '=', month)
      .where('sheet', '=', sheet)
      .where('position', '>', last?.position ?? -1n)
      .orderBy('position')
      .limit(pageSize)
      .execute(),
  );
}

/** True when a month's frozen sheet has more rows than `beyond`, including its header. */
export async function hasPeriodRows(
  db: Db,
  { month }: PeriodKey,
  sheet: string,
  beyond: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('period_rows')
    .select('position')
    .where('month', '=', month)
    .where('sheet', '=', sheet)
    .orderBy('position')
    .limit(1)
    .offset(beyond)
    .executeTakeFirst();
  return row !== undefined;
}
