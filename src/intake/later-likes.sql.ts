import { type RawBuilder, sql } from 'kysely';
import { movedNothing, saysPaid, unpaid } from '../core/ledger/came-back.ts';
import { otherZeros, paymentOf, paysTheSame } from '../core/ledger/same-payment.ts';
import { idList } from '../core/storage/bulk.ts';
import { literals } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { isNearTo, type Likeness, type NearTo } from './likeness.sql.ts';
import type { PaysAgain } from './retries.ts';

/**
 * True where a payout `p` that was unpaid has turned out otherwise, or somebody says so, since `n` was taken in or last
 * sent. The numbers of entries are in the order of their commits, which no clock that steps, and no other machine's clock,
 * can change (P33).
 */
const turnedSince: RawBuilder<boolean> = sql`exists (select 1 from history e where e.payout_id = p.id
  and e.id > (select max(h.id) from history h where h.payout_id = n.id and h.event in ('intake', 'intent'))
  and e.from_state in (${literals(unpaid)}) and (e.to_state not in (${literals(unpaid)}) or ${saysPaid}))`;

/**
 * True where a payout `p` of another batch may pay what `n` pays, and did not when `n` was last sent: it is newer, may go
 * now, or was sent or turned out not to be unpaid after that. Its id alone proves nothing: an older batch may have waited.
 * When a lost copy of the ledger sent it, nobody knows (P25).
 */
export const isSinceLastSent: RawBuilder<boolean> = sql`(p.batch_id <> n.batch_id
  and not ${movedNothing}
  and (p.id > n.id or p.state in ('ready', 'sending') or p.unseen_sends > 0
    or coalesce(p.last_attempt_id, 0) > coalesce(n.last_attempt_id, 0)
    or ${turnedSince}))`;

/**
 * Finds payouts near to a payment of now that may have paid what these ones pay since they were last sent: with the same
 * account, currency and amount. One of these that is paid again now may repeat them. The newest first. What turned out paid
 * since then is near, however long ago it was sent. `besides`: a batch that is left out.
 */
export async function laterLikes(
  trx: Db | Trx,
  ids: readonly bigint[],
  near: ReturnType<NearTo>,
  besides = '',
): Promise<(Likeness & { id: bigint; batch: string })[]> {
  type Found = { id: bigint; row_number: bigint; reference: string; batch_id: string };
  type Row = Found & { earlier: string; earlier_batch: string; created_at: string };
  const { rows } = await sql<Row>`select n.id, n.row_number, n.reference, n.batch_id,
      p.reference as earlier, p.batch_id as earlier_batch, b.created_at
    from payouts n cross join ${otherZeros} z cross join payouts p join batches b on b.id = p.batch_id
    where n.id in ${idList(ids)} and ${paysTheSame('p', paymentOf('n'))} and p.batch_id <> ${besides} and ${isSinceLastSent}
      and (${isNearTo(near)} or ${turnedSince})
    order by n.id, b.created_at desc, p.id`.execute(trx);
  return rows.map((one) => ({
    id: one.id,
    row: Number(one.row_number),
    reference: one.reference,
    batch: one.batch_id,
    earlierReference: one.earlier,
    earlierBatch: one.earlier_batch,
    earlierAt: one.created_at,
  }));
}

/** The same for rows of a file that pay payouts again, as a `retry` has it: each with the newest such payout. */
export async function retriedSince(
  db: Db | Trx,
  { plans, besides }: { plans: readonly PaysAgain[]; besides: string },
  near: ReturnType<NearTo>,
): Promise<Likeness[]> {
  if (plans.length === 0) return [];
  const ids = plans.map(({ replaces }) => replaces.id);
  const likes = Map.groupBy(await laterLikes(db, ids, near, besides), ({ id }) => id);
  return plans.flatMap(({ row, reference, replaces }) =>
    (likes.get(replaces.id) ?? []).slice(0, 1).map((one) => ({ ...one, row, reference })),
  );
}
