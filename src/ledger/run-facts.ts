import { type RawBuilder, sql } from 'kysely';
import type { Mode, PayoutState } from '../domain/payout.ts';
import type { Db, Trx } from './open.ts';
import type { Discrepancy, Payout } from './tables.ts';

/** A keyset page: small enough to stay flat in memory, large enough to cost little per row. */
const pageSize = 1000;

/** What a report of a run looks at: history up to `cut` (ISO UTC) and the run's own listing. */
export type Scope = { run: string; mode: Mode; startedAt: string; cut: string };

/** Whether payout `p`, after its history entry `seq`, waits to be sent once more by a person's or P16's decision. */
const retriedAt = (seq: RawBuilder<unknown>): RawBuilder<unknown> => sql`exists (
  select 1 from history r where r.payout_id = p.id and r.event = 'retry' and r.seq <= ${seq} and not exists (
    select 1 from history i where i.payout_id = p.id and i.event = 'intent' and i.seq > r.seq and i.seq <= ${seq}))`;

/** A state as the books see it: a retry that waits is still an unknown, since the first send may have been taken. */
const bookState = (state: RawBuilder<unknown>, seq: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when ${state} in ('ready', 'held') and ${retriedAt(seq)} then 'unknown' else ${state} end`;

/** The state of payout `p` at the cut, from history alone; null when it came later. */
const stateAt = (scope: Scope): RawBuilder<PayoutState | null> => sql`(
  select ${bookState(sql`h.to_state`, sql`h.seq`)} from history h where h.payout_id = p.id and h.at <= ${scope.cut} order by h.seq desc limit 1)`;

/** 1 when the last send of payout `p` began after the listing did, so that its absence there says nothing. */
const sentLate = (scope: Scope): RawBuilder<bigint> => sql`coalesce((
  select max(h.at) from history h where h.payout_id = p.id and h.at <= ${scope.cut}
    and h.to_state = 'sending' and coalesce(h.from_state, '') <> 'sending') >= ${scope.startedAt}, 0)`;

/**
 * Which of the listed transfers that were paired with payout `p` stands for it: the one of our mode, then the one with
 * the id that we were given, then one that did not fail. The index is named because SQLite, without statistics, takes
 * the primary key's first column instead and reads the whole listing for each payout.
 */
const listedOf = (scope: Scope): RawBuilder<string | null> => sql`(
  select c.transfer_id from listed c indexed by listed_payout where c.run_id = ${scope.run} and c.payout_id = p.id
  order by coalesce(lower(c.domain), ${scope.mode}) <> ${scope.mode}, c.transfer_id <> coalesce(p.transfer_id, ''),
    lower(c.status) = 'failed', c.transfer_id limit 1)`;

export type PayoutLine = {
  payout: Payout;
  state: PayoutState;
  late: boolean;
  listed: ListedPart | null;
};
type ListedPart = {
  status: string;
  currency: string;
  amount: bigint | null;
  amount_text: string;
  account_number: string;
  bank_code: string;
  domain: string | null;
};
type Joined = Payout & {
  state_at: PayoutState | null;
  late: bigint;
  l_id: string | null;
  l_status: string;
  l_currency: string;
  l_amount: bigint | null;
  l_amount_text: string;
  l_account: string;
  l_bank: string;
  l_domain: string | null;
};

/** Every payout of the mode that existed at the cut, in the order of its intake, with what the run's listing shows of it. */
// `coalesce` keeps SQLite on the primary key: through an index on mode it would sort the whole table for each page.
export async function* payoutLines(db: Db, scope: Scope): AsyncGenerator<PayoutLine[]> {
  for (let after = 0n; ; ) {
    const { rows } = await sql<Joined>`
      select w.*, l.transfer_id as l_id, l.status as l_status, l.currency as l_currency, l.amount as l_amount,
        l.amount_text as l_amount_text, l.account_number as l_account, l.bank_code as l_bank, l.domain as l_domain
      from (select p.*, ${stateAt(scope)} as state_at, ${sentLate(scope)} as late, ${listedOf(scope)} as listed_id
        from payouts p where coalesce(p.mode, '') = ${scope.mode} and p.id > ${after} order by p.id limit ${pageSize}) w
      left join listed l on l.run_id = ${scope.run} and l.transfer_id = w.listed_id
      order by w.id`.execute(db);
    if (rows.length > 0) yield rows.flatMap(payoutLine);
    const last = rows.at(-1);
    if (!last || rows.length < pageSize) return;
    after = last.id;
  }
}

function payoutLine(row: Joined): PayoutLine[] {
  if (row.state_at === null) return [];
  const listed =
    row.l_id === null
      ? null
      : {
          status: row.l_status,
          currency: row.l_currency,
          amount: row.l_amount,
          amount_text: row.l_amount_text,
          account_number: row.l_account,
          bank_code: row.l_bank,
          domain: row.l_domain,
        };
  return [{ payout: row, state: row.state_at, late: row.late === 1n, listed }];
}

export type DiscrepancyLine = Discrepancy & {
  /** Minor units of the payout it is about, or of the listed transfer that has no payout; null when neither is known. */
  money: bigint | null;
};

/** Discrepancies of the mode that are open or acknowledged, and those resolved since the run began, oldest first. */
export async function* discrepancyLines(db: Db, scope: Scope): AsyncGenerator<DiscrepancyLine[]> {
  for (let last = { first_seen_at: '', id: '' }; ; ) {
    const { rows } = await sql<DiscrepancyLine>`
      select d.*, coalesce(p.amount, l.amount) as money from discrepancies d
      left join payouts p on p.id = d.payout_id
      left join listed l on l.run_id = ${scope.run} and l.transfer_id = d.transfer_id
      where d.mode = ${scope.mode} and (d.first_seen_at, d.id) > (${last.first_seen_at}, ${last.id})
        and (d.state <> 'resolved' or d.resolved_at >= ${scope.startedAt})
      order by d.first_seen_at, d.id limit ${pageSize}`.execute(db);
    if (rows.length > 0) yield rows;
    const end = rows.at(-1);
    if (!end || rows.length < pageSize) return;
    last = end;
  }
}

/** SQLite sums in 64 bits and throws beyond; two halves hold any number of amounts. */
const half = 1_000_000_000n;
type Halves = { count: bigint; hi: bigint; lo: bigint };
const sums = (amount: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`count(*) as count, coalesce(sum(${amount} / ${half}), 0) as hi, coalesce(sum(${amount} % ${half}), 0) as lo`;
const joined = ({ hi, lo }: { hi: bigint; lo: bigint }): bigint => hi * half + lo;

/** Every change of state of the mode's payouts up to the cut, summed per currency and pair of states. */
export async function flowSums(trx: Trx, scope: Scope) {
  const { rows } = await sql<Halves & { currency: string; from: PayoutState | null; to: PayoutState }>`
    select p.currency, ${bookState(sql`h.from_state`, sql`h.seq - 1`)} as "from",
      ${bookState(sql`h.to_state`, sql`h.seq`)} as "to", ${sums(sql`p.amount`)}
    from history h join payouts p on p.id = h.payout_id
    where p.mode = ${scope.mode} and h.at <= ${scope.cut} and coalesce(h.from_state, '') <> h.to_state
    group by 1, 2, 3`.execute(trx);
  return rows.map(({ currency, from, to, count, ...amount }) => ({
    currency,
    from,
    to,
    count,
    amount: joined(amount),
  }));
}

type StandingRow = Halves & {
  currency: string;
  state: PayoutState;
  l_currency: string | null;
  l_status: string | null;
  late: bigint;
  l_hi: bigint;
  l_lo: bigint;
  differing: bigint;
};

/** Where the payouts stand at the cut against what the run's listing shows of them, summed. */
export async function standingSums(trx: Trx, scope: Scope) {
  const { rows } = await sql<StandingRow>`
    select w.currency, w.state, l.currency as l_currency, lower(l.status) as l_status, w.late, ${sums(sql`w.amount`)},
      coalesce(sum(l.amount / ${half}), 0) as l_hi, coalesce(sum(l.amount % ${half}), 0) as l_lo,
      coalesce(sum(l.transfer_id is not null and (l.currency <> w.currency or coalesce(l.amount, -1) <> w.amount)), 0) as differing
    from (select p.currency, p.amount, ${stateAt(scope)} as state, ${sentLate(scope)} as late, ${listedOf(scope)} as listed_id
      from payouts p where p.mode = ${scope.mode}) w
    left join listed l on l.run_id = ${scope.run} and l.transfer_id = w.listed_id
      and coalesce(lower(l.domain), ${scope.mode}) = ${scope.mode}
    where w.state is not null
    group by w.currency, w.state, l.currency, lower(l.status), w.late`.execute(trx);
  return rows.map((row) => ({
    currency: row.currency,
    state: row.state,
    listedCurrency: row.l_currency,
    listedStatus: row.l_status,
    late: row.late === 1n,
    count: row.count,
    amount: joined(row),
    differing: row.differing,
    listedAmount: joined({ hi: row.l_hi, lo: row.l_lo }),
  }));
}

/** The distinct transfers of the run's listing and mode, summed; `foreign` ones are no payout of ours. */
export async function listedSums(trx: Trx, scope: Scope) {
  const { rows } = await sql<Halves & { currency: string; status: string; foreign_row: bigint }>`
    select l.currency, lower(l.status) as status, l.payout_id is null as foreign_row, ${sums(sql`l.amount`)}
    from listed l where l.run_id = ${scope.run} and coalesce(lower(l.domain), ${scope.mode}) = ${scope.mode}
    group by l.currency, lower(l.status), l.payout_id is null`.execute(trx);
  return rows.map(({ currency, status, foreign_row, count, ...amount }) => ({
    currency,
    status,
    foreign: foreign_row === 1n,
    count,
    amount: joined(amount),
  }));
}

/** The known fees of what was paid at the cut, grouped by their exact text. */
export async function feeSums(trx: Trx, scope: Scope) {
  const { rows } = await sql<{ currency: string; fee: string; count: bigint }>`
    select p.currency, p.fee, count(*) as count from payouts p
    where p.mode = ${scope.mode} and p.fee is not null and ${stateAt(scope)} in ('success', 'returned')
    group by p.currency, p.fee`.execute(trx);
  return rows;
}
