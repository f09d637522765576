import { type RawBuilder, sql } from 'kysely';
import { type CountedState, cameToNothing, type PayoutState } from '../core/domain/payout.ts';
import type { Sum } from '../core/domain/verdict.ts';
import { payoutRanges } from '../core/ledger/payout-ranges.ts';
import { recounted, replacedSums } from '../core/ledger/replaced.ts';
import { literals, perDialect } from '../core/storage/dialect.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type Halves, joined, type RunScope, stateAt, sums } from './discrepancies/run-facts.sql.ts';

/** A day as people name it (`2026-11-21`) and the instant (ISO UTC) at which it begins in the reports' time zone. */
export type Day = { day: string; begins: string };
/** The days that figures are given for, oldest first; the last one ends at the cut. */
export type Window = { scope: RunScope; days: [Day, ...Day[]] };
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

/** Groups of payouts, asked of range after range: asked of a million at once, a webhook would wait for seconds. */
async function* overPayouts<Row>(
  db: Db,
  ask: (among: RawBuilder<boolean>) => RawBuilder<Row>,
): AsyncGenerator<Row> {
  for await (const { after, upTo } of payoutRanges(db)) {
    // `coalesce` keeps SQLite on the primary key.
    const among = sql<boolean>`p.id > ${after} and p.id <= ${upTo}`;
    const { rows } = await ask(among).execute(db);
    yield* rows;
  }
}

async function addUp<Row extends Halves>(
  rows: AsyncIterable<Row>,
  keyOf: (row: Row) => string,
): Promise<(Omit<Row, keyof Halves> & Sum)[]> {
  const totals = new Map<string, Row>();
  for await (const row of rows) {
    const key = keyOf(row);
    const { count, hi, lo } = totals.get(key) ?? none;
    totals.set(key, { ...row, count: row.count + count, hi: row.hi + hi, lo: row.lo + lo });
  }
  return [...totals.values()].map(({ count, hi, lo, ...rest }) => ({ ...rest, ...sumOf({ count, hi, lo }) }));
}

const none: Halves = { count: 0n, hi: 0n, lo: 0n };

/** How the payouts count at the cut, summed per currency and state (P20). */
export async function sumsAtCut(
  db: Db,
  scope: RunScope,
): Promise<({ currency: string; state: CountedState } & Sum)[]> {
  const rows = overPayouts(
    db,
    (among) => sql<Halves & { currency: string; state: PayoutState }>`
      select w.currency, w.state, ${sums(sql`w.amount`)}
      from (select p.currency, p.amount, ${stateAt(scope)} as state from payouts p where ${among}) w
      where w.state is not null group by w.currency, w.state`,
  );
  const groups = await addUp(rows, ({ currency, state }) => `${currency} ${state}`);
  // The id is taken outside: it may be that of a `p` of the caller, which the `p` inside would hide.
  const atCut = (id: RawBuilder<unknown>) =>
    sql<PayoutState | null>`(select (select ${stateAt(scope)} from payouts p where p.id = asked.id) from (select ${id} as id) asked)`;
  const replaced = await replacedSums(db, sql`true`, atCut);
  return recounted(
    groups.map(({ count, ...group }) => ({ ...group, n: count })),
    replaced,
  ).map(({ currency, state, n, amount }) => ({ currency, state, count: n, amount }));
}

/** What was first sent, and what settled, on each day of the window that had any. */
export function daySums(db: Db, window: Window) {
  const { scope, days } = window;
  const rows = overPayouts(
    db,
    (among) => sql<Halves & { currency: string; what: 'submitted' | 'settled'; day: string }>`
      select w.currency, w.what, w.day, ${sums(sql`w.amount`)} from (
        select p.currency, p.amount, 'submitted' as what, ${dayOf(sql`p.submitted_at`, window)} as day from payouts p
        where ${among} and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut}
        union all
        select p.currency, p.amount, 'settled', ${dayOf(sql`p.settled_at`, window)} from payouts p
        where ${among} and p.settled_at >= ${days[0].begins} and p.state in ('success', 'returned')) w
      group by w.currency, w.what, w.day`,
  );
  return addUp(rows, ({ currency, what, day }) => `${currency} ${what} ${day}`);
}

/** What failed, was refused or came back in the window: when it was known, for a refused one when it was first sent. */
const lost = ({ scope, days }: Window): RawBuilder<boolean> => sql`
  p.state in (${literals(cameToNothing)}) and coalesce(p.final_at, p.submitted_at) >= ${days[0].begins} and coalesce(p.final_at, p.submitted_at) <= ${scope.cut}`;

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
  const { rows: banks } = await sql<Halves & { currency: string; bank: string; place: bigint }>`
    with lost as (select p.currency, p.bank_code as bank, ${sums(sql`p.amount`)} from payouts p where ${lost(window)} group by 1, 2)
    select l.*, row_number() over (partition by l.currency order by l.count desc, l.bank) as place
    from lost l`.execute(db);
  const sent = await sentTo(db, window, banks);
  const groups = Map.groupBy(banks, ({ currency, bank, place }) =>
    JSON.stringify([currency, place <= named ? bank : null]),
  );
  return [...groups].map(([key, group]) => {
    const [currency, bank]: [string, string | null] = JSON.parse(key);
    const sum = (of: (one: (typeof group)[number]) => bigint): bigint =>
      group.reduce((all, one) => all + of(one), 0n);
    const amount = joined({ hi: sum(({ hi }) => hi), lo: sum(({ lo }) => lo) });
    const wasSent = sum((one) => sent.get(`${one.currency} ${one.bank}`) ?? 0n);
    return { currency, bank, sent: wasSent, count: sum(({ count }) => count), amount };
  });
}

/** How many payouts each of these banks was sent in the window, by `CURRENCY BANK`. */
async function sentTo(
  db: Db,
  { scope, days }: Window,
  banks: readonly { currency: string; bank: string }[],
): Promise<Map<string, bigint>> {
  const sent = new Map(banks.map(({ currency, bank }) => [`${currency} ${bank}`, 0n]));
  if (banks.length === 0) return sent;
  const rows = overPayouts(
    db,
    (among) => sql<{ currency: string; bank: string; n: bigint }>`
      select p.currency, p.bank_code as bank, count(*) as n from payouts p
      where ${among} and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut} group by 1, 2`,
  );
  for await (const { currency, bank, n } of rows) {
    const known = sent.get(`${currency} ${bank}`);
    if (known !== undefined) sent.set(`${currency} ${bank}`, known + n);
  }
  return sent;
}

/** Fees of what settled in the window, per day and exact text; null: the service told none. A day may come several times. */
export function feeDays(db: Db, window: Window) {
  const { days } = window;
  return overPayouts(
    db,
    (among) => sql<{ currency: string; day: string; fee: string | null; count: bigint }>`
      select p.currency, ${dayOf(sql`p.settled_at`, window)} as day, p.fee, count(*) as count from payouts p
      where ${among} and p.settled_at >= ${days[0].begins} and p.state in ('success', 'returned')
      group by 1, 2, 3`,
  );
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
export async function settleTimes(db: Db, window: Window): Promise<SettleTime[]> {
  const { scope, days } = window;
  const rows = overPayouts(
    db,
    (among) => sql<{ currency: string; day: string; seconds: bigint; count: bigint }>`
      select p.currency, ${dayOf(sql`p.submitted_at`, window)} as day, ${settleSeconds} as seconds, count(*) as count
      from payouts p where ${among} and p.state in ('success', 'returned') and p.settled_at is not null
      and p.submitted_at >= ${days[0].begins} and p.submitted_at <= ${scope.cut} group by 1, 2, 3`,
  );
  // How often each number of seconds came: few entries, however many payouts there are.
  const groups = new Map<string, { currency: string; day: string | null; times: Map<bigint, bigint> }>();
  for await (const { currency, day, seconds, count } of rows)
    for (const shown of [day, null]) {
      const key = `${currency} ${shown ?? ''}`;
      const group = groups.get(key) ?? { currency, day: shown, times: new Map<bigint, bigint>() };
      groups.set(key, group);
      group.times.set(seconds, (group.times.get(seconds) ?? 0n) + count);
    }
  return [...groups.values()].map(({ currency, day, times }) => ({ currency, day, ...ranksOf(times) }));
}

function ranksOf(times: ReadonlyMap<bigint, bigint>): { count: bigint; median: bigint; p95: bigint } {
  const ascending = [...times].toSorted(([a], [b]) => Number(a - b));
  const count = ascending.reduce((sum, [, n]) => sum + n, 0n);
  const rank = (percent: bigint): bigint => {
    let upTo = 0n;
    const found = ascending.find(([, n]) => {
      upTo += n;
      return upTo * 100n >= count * percent;
    });
    return found?.[0] ?? 0n;
  };
  return { count, median: rank(50n), p95: rank(95n) };
}

/** `day` is null for all days together; times are whole seconds. */
export type SettleTime = { currency: string; day: string | null; count: bigint; median: bigint; p95: bigint };
