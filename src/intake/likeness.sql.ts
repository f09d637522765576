import { type RawBuilder, sql } from 'kysely';
import { bareAccount } from '../core/domain/bare-account.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { cameBackAt, movedNothing } from '../core/ledger/came-back.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import { otherZeros, paymentOf, paysTheSame } from '../core/ledger/same-payment.ts';
import type { Config } from '../core/settings/settings.ts';
import { field, rowsOf } from '../core/storage/bulk.ts';
import { hasRow } from '../core/storage/counting.ts';
import { literals } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { prepared } from '../core/storage/prepared.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { linesOfBatch } from '../watching/evidence/lineage.sql.ts';

/**
 * A row of a new batch, and a payout in the ledger with the same account, currency and amount under another
 * reference.
 */
export type Likeness = {
  row: number;
  reference: string;
  earlierReference: string;
  earlierBatch: string;
  earlierAt: string;
};

/** The reason to hold what is like an earlier payout; `count`: how many are. `zone`: whose days people read. None for none. */
export function alikeReason(
  first: Likeness | undefined,
  count: number,
  zone: string,
): Extract<HoldReason, { kind: 'alike' }>[] {
  if (!first) return [];
  const { row, earlierReference: reference, earlierBatch: batch, earlierAt } = first;
  return [{ kind: 'alike', row, reference, batch, day: dayOf(earlierAt, zone), others: count - 1 }];
}

/** States in which the money has gone, or has not. */
const ended = ['success', 'failed', 'returned'] as const;

type NewRow = {
  row: number;
  reference: string;
  accountNumber: string;
  currency: string;
  amount: bigint;
  /** The day of its payment (P38); empty: at once. */
  payOn: string;
  /** The ids of the payouts that the row pays again; they are no duplicates of it (P20). */
  replaces?: ReadonlySet<bigint> | undefined;
};

/** Rows per query. */
const rowsPerQuestion = 100;

/**
 * For which other payouts of the amount one of this day is a likely duplicate: those that go or went at `since` or later,
 * and have no day of payment after `until`. What has not ended goes `now` at the earliest. All ISO UTC.
 */
export type NearTo = (payOn: string) => { since: string; until: string; now: string };

/** What lies within `duplicate_window_days` of a payment that goes now, or on its day. */
export function nearTo({ config, nowMs }: { config: Pick<Config, 'submission'>; nowMs: number }): NearTo {
  const windowMs = config.submission.duplicateWindowDays * 86_400_000;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const near = (goesMs: number) => {
    return { since: iso(goesMs - windowMs), until: iso(goesMs + windowMs), now: iso(nowMs) };
  };
  const atOnce = near(nowMs);
  return (payOn) => (payOn === '' ? atOnce : near(Math.max(nowMs, Date.parse(payOn))));
}

const later = (one: RawBuilder<unknown>, other: RawBuilder<unknown>): RawBuilder<string> =>
  sql`case when ${one} > ${other} then ${one} else ${other} end`;

/**
 * When a payout that has ended went: when it was sent, or later, when it came back after it had come to nothing (P14). A
 * success from before `since` did not, and its history is not read.
 */
const wentAt = (since: RawBuilder<unknown>): RawBuilder<string> => {
  const sentAt = later(later(sql`p.pay_on`, sql`b.created_at`), sql`coalesce(p.submitted_at, '')`);
  return sql`case when p.state = 'success' and coalesce(p.final_at, '') < ${since} then ${sentAt}
    else ${later(sentAt, cameBackAt)} end`;
};
const hasEnded = sql<boolean>`p.state in (${literals(ended)})`;

/**
 * When a payout goes or went. One that has not ended goes now or on its day of payment (P38), however long ago it was taken
 * in: it may be held and released at any moment, or be on its way.
 */
const goesAt = (now: RawBuilder<unknown>, since: RawBuilder<unknown>): RawBuilder<string> =>
  sql`case when ${hasEnded} then ${wentAt(since)} else ${later(sql`p.pay_on`, now)} end`;

/** True for a payout `p` that is near to a payment, as {@link NearTo} has it: values, or columns. */
export const isNearTo = ({ since, until, now }: { [part in keyof ReturnType<NearTo>]: unknown }) =>
  sql<boolean>`(${goesAt(sql`${now}`, sql`${since}`)} >= ${since} and p.pay_on <= ${until})`;

type EarlierPayout = Pick<
  Payout,
  'id' | 'reference' | 'batch_id' | 'account_number' | 'currency' | 'amount' | 'pay_on'
> & {
  created_at: string;
  /** Null for one that has not ended: it goes now, or on its day. */
  went_at: string | null;
};

const asked = { account: sql`v.column1`, currency: sql`v.column2`, amount: sql`cast(v.column3 as bigint)` };
/**
 * Compiled once: a check runs it for each hundred rows. `cross join` keeps SQLite from reading all payouts
 * first. The last value: what ended before it is near to no row. Most salaries are those of last month, long gone.
 */
const findAlike = prepared<EarlierPayout>((_, slot) => {
  const rows = Array.from(
    { length: rowsPerQuestion },
    (_row, i) => sql`(${slot(i * 3)}, ${slot(i * 3 + 1)}, ${slot(i * 3 + 2)})`,
  );
  return sql<EarlierPayout>`select p.id, p.reference, p.batch_id, p.account_number, p.currency, p.amount, p.pay_on, b.created_at,
      case when ${hasEnded} then ${wentAt(sql`w.since`)} end as went_at
    from (values ${sql.join(rows)}) v cross join (select cast(${slot(rowsPerQuestion * 3)} as text) as since) w
      cross join ${otherZeros} z cross join payouts p join batches b on b.id = p.batch_id
    where ${paysTheSame('p', asked)} and not ${movedNothing}
      and not (${hasEnded} and ${wentAt(sql`w.since`)} < w.since)
    order by b.created_at`;
});

function keyOf({ accountNumber, currency, amount }: Pick<NewRow, 'accountNumber' | 'currency' | 'amount'>) {
  return `${bareAccount(accountNumber)} ${currency} ${amount}`;
}

/** Finds, for each of these rows, the newest earlier payout like it that is near to it (P23). */
export async function likenessOf(db: Db | Trx, rows: readonly NewRow[], nearTo: NearTo): Promise<Likeness[]> {
  const earlierPayouts: EarlierPayout[] = [];
  const { since } = nearTo('');
  // Equal rows are queried once; otherwise each would return all its likes.
  const different = [...new Map(rows.map((row) => [keyOf(row), row])).values()];
  for (let from = 0; from < different.length; from += rowsPerQuestion) {
    const page = different.slice(from, from + rowsPerQuestion);
    const values = page.flatMap((row) => [row.accountNumber, row.currency, row.amount.toString()]);
    // Fills the query up with an account that does not exist.
    for (let i = page.length; i < rowsPerQuestion; i++) values.push('', '', '0');
    earlierPayouts.push(...(await findAlike(db, [...values, since])));
  }
  if (earlierPayouts.length === 0) return [];
  const alike = Map.groupBy(earlierPayouts, ({ account_number: accountNumber, ...money }) =>
    keyOf({ accountNumber, ...money }),
  );
  return rows.flatMap((row) => {
    const own = alike.get(keyOf(row)) ?? [];
    const { since, until, now } = nearTo(row.payOn);
    const isNear = ({ id, went_at, pay_on }: EarlierPayout): boolean =>
      !row.replaces?.has(id) && (went_at ?? (pay_on > now ? pay_on : now)) >= since && pay_on <= until;
    const earlier = own.findLast(isNear);
    if (!earlier) return [];
    const { reference: earlierReference, batch_id: earlierBatch, created_at: earlierAt } = earlier;
    return [{ row: row.row, reference: row.reference, earlierReference, earlierBatch, earlierAt }];
  });
}

/** Rows per statement: few enough to block nobody for long, enough that equal payouts are rarely queried twice. */
const rowsPerStep = 20_000n;

/**
 * Whether any payout of a loaded batch may have the account, currency and amount of a payout of another
 * batch. Equal payouts are queried once, and never against their own batch: its ids are consecutive, and a
 * batch of equal rows would compare each with all.
 */
export async function hasLikeness(trx: Db | Trx, batch: { id: string }): Promise<boolean> {
  const { rows: own } = await sql<{ first: bigint; last: bigint; n: bigint; until: bigint }>`
    select min(id) as first, max(id) as last, count(*) as n, max(row_number) as until
    from payouts where batch_id = ${batch.id} having count(*) > 0`.execute(trx);
  const [ids] = own;
  if (!ids) return false;
  // Another payout has an id between them: the count decides.
  if (ids.last - ids.first + 1n !== ids.n) return true;
  for (const others of [sql<boolean>`p.id < ${ids.first}`, sql<boolean>`p.id > ${ids.last}`]) {
    // Usually no payout is newer than the batch.
    if (!(await hasRow(trx.selectFrom('payouts as p').where(others)))) continue;
    for (let from = 0n; from <= ids.until; from += rowsPerStep) {
      const { rows } = await sql<{ id: bigint }>`select p.id
        from (select distinct account_number, currency, amount from payouts
            where batch_id = ${batch.id} and row_number >= ${from} and row_number < ${from + rowsPerStep}) n
          cross join ${otherZeros} z cross join payouts p
        where ${paysTheSame('p', paymentOf('n'))} and ${others} limit 1`.execute(trx);
      if (rows.length > 0) return true;
    }
  }
  return false;
}

/** `intake`: what was near at its intake. With it, only what may still go is compared, and with what intake did not see. */
type Compared = { id: string; intake?: NearTo };

/**
 * Counts the payouts of a loaded batch that resemble a payout of another batch that is near to them, and returns the first
 * few. A monthly salary is no duplicate. Each result names the newest payout that it resembles. Equal payouts are compared
 * as a group, since both files may repeat a payment many times.
 */
export async function batchLikeness(
  trx: Db | Trx,
  batch: Compared,
  nearTo: NearTo,
  show: number,
): Promise<{ count: number; first: Likeness[] }> {
  const days = await trx
    .selectFrom('payouts')
    .select('pay_on')
    .distinct()
    .where('batch_id', '=', batch.id)
    .execute();
  const near = days.map(({ pay_on }): Near => {
    return { pay_on, ...nearTo(pay_on), seen: batch.intake?.(pay_on).until ?? '' };
  });
  const counted = await sql<{ count: bigint }>`with ${likeIn(batch, near)}
    select count(*) as count from own`.execute(trx);
  const count = counted.rows[0]?.count ?? 0n;
  if (count === 0n) return { count: 0, first: [] };
  const { rows } = await sql<Like>`with ${likeIn(batch, near)}
    select * from own order by row_number limit ${show}`.execute(trx);
  const first: Likeness[] = [];
  for (const row of rows) first.push(...(await newestLike(trx, batch, nearTo(row.pay_on), row)));
  return { count: Number(count), first };
}

type Near = { pay_on: string; seen: string } & ReturnType<NearTo>;
type Like = Pick<
  Payout,
  'id' | 'row_number' | 'reference' | 'account_number' | 'currency' | 'amount' | 'pay_on'
>;

/**
 * `own`: the payouts of a batch with more likes in other batches than the payouts that they pay again (P20).
 */
function likeIn(batch: Compared, near: readonly Near[]): RawBuilder<unknown> {
  const isSame = paysTheSame('p', paymentOf('n'));
  const isNear = sql`${isNearTo({ now: sql`w.now`, since: sql`w.since`, until: sql`w.until` })}
    and ${isUnseen(batch, sql`n.id`, sql`w.seen`)}`;
  return sql`w as materialized (
      select ${field('pay_on')} as pay_on, ${field('since')} as since, ${field('until')} as until,
        ${field('now')} as now, ${field('seen')} as seen
      from ${rowsOf(near)} as row),
    alike as materialized (
      select n.account_number, n.currency, n.amount, n.pay_on, count(*) as others
      from (select account_number, currency, amount, pay_on, min(id) as id from payouts
          where batch_id = ${batch.id} and ${mayGo(batch)} group by 1, 2, 3, 4) n
        join w on w.pay_on = n.pay_on cross join ${otherZeros} z cross join payouts p join batches b on b.id = p.batch_id
      where ${isSame} and ${isEarlier(batch)} and ${isNear}
      group by n.account_number, n.currency, n.amount, n.pay_on),
    again as (
      select n.id, count(*) as others
      from ${linesOfBatch(batch.id)} line join payouts n on n.id = line.id join w on w.pay_on = n.pay_on
        join payouts p on p.id = line.ancestor join batches b on b.id = p.batch_id cross join ${otherZeros} z
      where ${isSame} and ${isEarlier(batch)} and ${isNear} group by n.id),
    own as (
      select n.id, n.row_number, n.reference, n.account_number, n.currency, n.amount, n.pay_on
      from payouts n join alike on alike.account_number = n.account_number and alike.currency = n.currency
          and alike.amount = n.amount and alike.pay_on = n.pay_on
        left join again on again.id = n.id
      where n.batch_id = ${batch.id} and ${mayGo(batch)} and alike.others > coalesce(again.others, 0))`;
}

function mayGo({ intake }: Compared): RawBuilder<boolean> {
  return intake ? sql`state in ('held', 'ready')` : sql`1 = 1`;
}

/** A payout `p` that came after the one of this id, or whose day of payment was not near at its intake. */
function isUnseen(
  { intake }: Compared,
  id: RawBuilder<unknown>,
  seen: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (!intake) return sql`1 = 1`;
  return sql`(p.id > ${id} or p.pay_on > ${seen})`;
}

function isEarlier({ id }: { id: string }): RawBuilder<boolean> {
  return sql`p.batch_id <> ${id} and not ${movedNothing}`;
}

async function newestLike(
  trx: Db | Trx,
  batch: Compared,
  near: ReturnType<NearTo>,
  row: Like,
): Promise<Likeness[]> {
  const { rows } = await sql<{ reference: string; batch_id: string; created_at: string }>`
    select p.reference, p.batch_id, b.created_at from ${otherZeros} z cross join payouts p join batches b on b.id = p.batch_id
    where ${paysTheSame('p', { account: sql`${row.account_number}`, currency: sql`${row.currency}`, amount: sql`${row.amount}` })}
      and ${isEarlier(batch)} and ${isNearTo(near)}
      and ${isUnseen(batch, sql`${row.id}`, sql`${batch.intake?.(row.pay_on).until ?? ''}`)}
      and p.id not in (select line.ancestor from ${linesOfBatch(batch.id)} line where line.id = ${row.id})
    order by b.created_at desc, p.id limit 1`.execute(trx);
  return rows.map((earlier) => ({
    row: Number(row.row_number),
    reference: row.reference,
    earlierReference: earlier.reference,
    earlierBatch: earlier.batch_id,
    earlierAt: earlier.created_at,
  }));
}
