import { type RawBuilder, sql } from 'kysely';
import type { PayoutState } from '../domain/payout.ts';
import { perDialect } from './dialect.ts';
import type { Db } from './open.ts';
import { type Halves, joined, type Scope, stateAt, sums } from './run-facts.ts';

/** A day as people name it (`2026-11-21`) and the instant (ISO UTC) at which it begins in the reports' time zone. */
export type Day = { day: string; begins: string };
/** The days that figures are given for, oldest first; the last one ends at the cut. */
export type Window = { scope: Scope; days: [Day, ...Day[]] };
/** How many payouts and how much in minor units of the currency. */
export type Sum = { count: bigint; amount: bigint };

/** So many reasons, and so many banks, are named for each currency; the rest is summed as one. */
const named = 15;

const sumOf = ({ count, ...amount }: Halves): Sum => ({ count, amount: joined(amount) });

/** The day that an instant falls on. Boundaries are instants, so a day of 23 or 25 hours is as long as it was. */
function dayOf(instant: RawBuilder<unknown>, { days }: Window): RawBuilder<string> {
  const newestFirst = days
    .toReversed()
    .map(({ day, begins }) => sql`when ${instant} >= ${begins} then ${day}`);
  return sql`case ${sql.join(newestFirst, sql` `)} end`;
}

/** Where the payouts stand at the cut, summed per currency and state. */
export async function stateSums(db: Db, scope: Scope) {
  const { rows } = await sql<Halves & { currency: string; state: PayoutState }>`
    select w.currency, w.state, ${sums(sql`w.amount`)}
    from (select p.currency, p.amount, ${stateAt(scope)} as state from payouts p where p.mode = ${scope.mode}) w
    where w.state is not null group by w.currency, w.state`.execute(db);
  return rows.map(({ currency, state, ...halves }) => ({ currency, state, ...sumOf(halves) }));
}

/** What was first sent, and what settled, on each day of the window that had any. */
export async function daySums(db: Db, window: Window) {
  const { scope, days } = window;
  const { rows } = await sql<Halves & { currency: string; what: 'submitted' | 'settled'; day: string }>`
    select w.currency, w.what, w.day, ${sums(sql`w.amount`)} from (
      select p.currency, p.amount, 'submitted' as what, ${dayOf(sql`p.submitted_at`, window)} as day from payouts p
      where p.mode = ${scope.mode} and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut}
      union all
      select p.currency, p.amount, 'settled', ${dayOf(sql`p.settled_at`, window)} from payouts p
      where p.mode = ${scope.mode} and p.settled_at >= ${days[0].begins} and p.state in ('success', 'returned')) w
    group by w.currency, w.what, w.day`.execute(db);
  return rows.map(({ currency, what, day, ...halves }) => ({ currency, what, day, ...sumOf(halves) }));
}

/** What failed, was refused or came back in the window: when it was known, for a refused one when it was first sent. */
const lost = ({ scope, days }: Window): RawBuilder<boolean> => sql`p.mode = ${scope.mode}
  and p.state in ('failed', 'refused', 'returned')
  and coalesce(p.final_at, p.submitted_at) >= ${days[0].begins} and coalesce(p.final_at, p.submitted_at) <= ${scope.cut}`;

/** Reasons by how often they came, per currency and state; an empty reason: none was given; null: all the others. */
export async function failureSums(db: Db, window: Window) {
  // What the service said when it took the payout (`Transfer initiated`) is no reason for what became of it.
  const { rows } = await sql<Halves & { currency: string; state: string; reason: string | null }>`
    with lost as (select p.currency, p.state, p.amount, case when exists (
        select 1 from attempts a where a.payout_id = p.id and a.outcome = 'accepted' and a.message = p.message)
        then '' else substr(coalesce(p.message, ''), 1, 200) end as reason
      from payouts p where ${lost(window)}),
    counted as (select l.currency, l.state, l.reason, count(*) as n from lost l group by 1, 2, 3),
    placed as (select c.*, row_number() over (partition by c.currency order by c.n desc, c.state, c.reason) as place
      from counted c)
    select l.currency, l.state, case when k.place <= ${named} then l.reason end as reason, ${sums(sql`l.amount`)}
    from lost l join placed k on k.currency = l.currency and k.state = l.state and k.reason = l.reason
    group by 1, 2, 3`.execute(db);
  return rows.map(({ currency, state, reason, ...halves }) => ({
    currency,
    state,
    reason,
    ...sumOf(halves),
  }));
}

/** The banks with most failures, per currency, each with how many it was sent in the window; null: all the others. */
export async function bankSums(db: Db, window: Window) {
  const { scope, days } = window;
  const { rows } = await sql<Halves & { currency: string; bank: string | null; sent: bigint }>`
    with sent as (select p.currency, p.bank_code, count(*) as n from payouts p where p.mode = ${scope.mode}
        and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut} group by 1, 2),
    lost as (select p.currency, p.bank_code, ${sums(sql`p.amount`)} from payouts p where ${lost(window)} group by 1, 2),
    placed as (select l.*, row_number() over (partition by l.currency order by l.count desc, l.bank_code) as place
      from lost l)
    select k.currency, case when k.place <= ${named} then k.bank_code end as bank, sum(k.count) as count,
      sum(k.hi) as hi, sum(k.lo) as lo, sum(coalesce(s.n, 0)) as sent
    from placed k left join sent s on s.currency = k.currency and s.bank_code = k.bank_code
    group by 1, 2`.execute(db);
  return rows.map(({ currency, bank, sent, ...halves }) => ({ currency, bank, sent, ...sumOf(halves) }));
}

/** Fees of what settled in the window, per day and exact text; null: the service told none. */
export async function feeDays(db: Db, window: Window) {
  const { scope, days } = window;
  const { rows } = await sql<{ currency: string; day: string; fee: string | null; count: bigint }>`
    select p.currency, ${dayOf(sql`p.settled_at`, window)} as day, p.fee, count(*) as count from payouts p
    where p.mode = ${scope.mode} and p.settled_at >= ${days[0].begins} and p.state in ('success', 'returned')
    group by 1, 2, 3`.execute(db);
  return rows;
}

/** Whole seconds from the first send to the end; a service's clock behind ours gives no time below zero. */
const settleSeconds = perDialect(
  sql`max(0, cast(round((julianday(p.settled_at) - julianday(p.submitted_at)) * 86400) as integer))`,
  sql`greatest(0, round(extract(epoch from p.settled_at::timestamptz - p.submitted_at::timestamptz))::bigint)`,
);

/**
 * Seconds from the first send to the service's word that it settled: median and 95th percentile by nearest rank, of
 * what was first sent on each day of the window, and over all of them (`day` is null).
 */
export async function settleTimes(db: Db, window: Window) {
  const { scope, days } = window;
  // Grouped by seconds first: the windows then run over few rows, however many payouts there are.
  const times = sql`select p.currency, ${dayOf(sql`p.submitted_at`, window)} as day, ${settleSeconds} as seconds,
      count(*) as n
    from payouts p where p.mode = ${scope.mode} and p.state in ('success', 'returned') and p.settled_at is not null
    and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut} group by 1, 2, 3`;
  const { rows } = await sql<SettleTime>`
    with times as (${times}),
    both_ways as (select t.currency, t.day, t.seconds, t.n from times t
      union all select t.currency, null, t.seconds, sum(t.n) from times t group by t.currency, t.seconds),
    ranked as (select b.currency, b.day, b.seconds, sum(b.n) over (partition by b.currency, b.day order by b.seconds) as upto,
      sum(b.n) over (partition by b.currency, b.day) as total from both_ways b)
    select r.currency, r.day, r.total as count, min(case when r.upto * 100 >= r.total * 50 then r.seconds end) as median,
      min(case when r.upto * 100 >= r.total * 95 then r.seconds end) as p95
    from ranked r group by r.currency, r.day, r.total`.execute(db);
  return rows;
}

/** `day` is null for all days together; times are whole seconds. */
export type SettleTime = { currency: string; day: string | null; count: bigint; median: bigint; p95: bigint };
