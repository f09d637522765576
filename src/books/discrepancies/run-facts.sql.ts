import { type RawBuilder, sql } from 'kysely';
import type { Mode, PayoutState } from '../../core/domain/payout.ts';
import { keyset } from '../../core/storage/keyset.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { Discrepancy } from '../../core/storage/tables/tables.ts';
import { latestRunFirst } from '../../watching/listing/listings.sql.ts';

/** A keyset page: small enough to stay flat in memory, large enough to cost little per row. */
const pageSize = 1000;

/**
 * What a report of a run looks at: its listing, and history up to the entry `through`. An entry and not an instant, since
 * a clock may be set back; `cut` (ISO UTC) is the time of it for people.
 */
export type RunScope = { run: string; mode: Mode; startedAt: string; cut: string; through: bigint };

/** Whether payout `p`, after its history entry `seq`, waits to be sent once more by a person's or P16's decision. */
const retriedAt = (seq: RawBuilder<unknown>): RawBuilder<unknown> => sql`exists (
  select 1 from history r where r.payout_id = p.id and r.event = 'retry' and r.seq <= ${seq} and not exists (
    select 1 from history i where i.payout_id = p.id and i.event = 'intent' and i.seq > r.seq and i.seq <= ${seq}))`;

/** A state as the books see it: a retry that waits is still an unknown, since the first send may have been taken. */
const bookState = (state: RawBuilder<unknown>, seq: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`case when ${state} in ('ready', 'held') and ${retriedAt(seq)} then 'unknown' else ${state} end`;

/** The state of payout `p` at the cut, from history alone; null when it came later. */
export const stateAt = (scope: RunScope): RawBuilder<PayoutState | null> => sql`(
  select ${bookState(sql`h.to_state`, sql`h.seq`)} from history h where h.payout_id = p.id and h.id <= ${scope.through} order by h.seq desc limit 1)`;

/**
 * Joins `l`, the listed transfer of a discrepancy `d` without a payout. It comes from the newest listing up to the run
 * that shows it: a run without a usable list still knows the amount.
 */
export const withTransfer = (scope: RunScope): RawBuilder<unknown> => sql`left join listed l
  on d.payout_id is null and l.transfer_id = d.transfer_id and l.run_id = (
    select runs.id from runs
    join runs shown on shown.id = ${scope.run} and shown.origin_id = runs.origin_id and shown.rowid >= runs.rowid
    where (runs.id = shown.id or runs.list_standing in ('complete', 'window'))
      and exists (select 1 from listed x where x.run_id = runs.id and x.transfer_id = d.transfer_id)
    order by ${latestRunFirst} limit 1)`;

export type DiscrepancyLine = Discrepancy & {
  /**
   * Minor units of the payout it is about, of the listed transfer that has no payout, or of the collection that was
   * expected; null when none is known.
   */
  money: bigint | null;
};

/** Discrepancies that are open or acknowledged, and those resolved since the run began, oldest first. */
export function discrepancyLines(db: Db, scope: RunScope): AsyncGenerator<DiscrepancyLine[]> {
  return keyset<DiscrepancyLine>(pageSize, async (last) => {
    const { rows } = await sql<DiscrepancyLine>`
      select d.*, coalesce(p.amount, l.amount, c.expected_amount) as money from discrepancies d
      left join payouts p on p.id = d.payout_id
      left join collections c on d.kind in ('collection_missing', 'collection_conflict')
        and c.reference_key = lower(d.reference)
      ${withTransfer(scope)}
      where (d.first_seen_at, d.id) > (${last?.first_seen_at ?? ''}, ${last?.id ?? ''})
        and (d.state <> 'resolved' or d.resolved_at >= ${scope.startedAt})
      order by d.first_seen_at, d.id limit ${pageSize}`.execute(db);
    return rows;
  });
}

/** SQLite sums in 64 bits and throws beyond; two halves hold any number of amounts. */
const half = 1_000_000_000n;
export type Halves = { count: bigint; hi: bigint; lo: bigint };
export const sums = (amount: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`count(*) as count, coalesce(sum(${amount} / ${half}), 0) as hi, coalesce(sum(${amount} % ${half}), 0) as lo`;
export const joined = ({ hi, lo }: { hi: bigint; lo: bigint }): bigint => hi * half + lo;

/** Payouts of which the run listed only a foreign transfer (P15): paired by its reference, not matched. */
export async function countCollisions(db: Db, run: string): Promise<number> {
  const { rows } = await sql<{ n: bigint }>`
    select count(*) as n from discrepancies d where d.kind = 'reference_collision' and d.last_run_id = ${run}
      and not exists (select 1 from listed l indexed by listed_payout where l.run_id = ${run}
        and l.payout_id = d.payout_id and l.transfer_id <> d.transfer_id)`.execute(db);
  return Number(rows[0]?.n ?? 0n);
}
