import { sql } from 'kysely';
import type { Db } from '../../core/storage/ledger.ts';
import {
  contradictedByDetails,
  contradictedByWebhook,
  revivedByDetails,
} from '../../watching/evidence/doubts.sql.ts';

/** The load of one archive: batches with all of their payouts, and frozen runs up to a number; 0: none. */
export type Load = { batches: string[]; frozenThrough: bigint };

/**
 * The batches whose payouts all ended by the history entry `through` and have nothing open: no discrepancy, no look-up,
 * no request, no contradiction, no file to write. A payout and the one that pays it again go together.
 */
export async function archivableBatches(db: Db, through: bigint): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select b.id from batches b
    where b.archive_id is null and b.phase in ('loaded', 'cancelled') and b.version = b.reported_version
      and not exists (select 1 from discrepancies d where d.batch_id = b.id and d.state <> 'resolved')
      and not exists (select 1 from file_moves f where f.owner = b.id and f.done_at is null)
      and not exists (select 1 from payouts p where p.batch_id = b.id and (
        p.state not in ('success', 'failed', 'refused', 'cancelled', 'returned') or p.archived_seq is not null
        or p.history_seq = 0
        or exists (select 1 from history h where h.payout_id = p.id and h.seq = p.history_seq and h.id > ${through})
        or exists (select 1 from discrepancies d where d.payout_id = p.id and d.state <> 'resolved')
        or exists (select 1 from inquiries q where q.payout_id = p.id and q.outcome is null)
        or exists (select 1 from resend_requests r where r.payout_id = p.id and r.outcome is null)
        or exists (select 1 from attempts a where a.payout_id = p.id and a.outcome is null)
        or ${contradictedByDetails} or ${contradictedByWebhook} or ${revivedByDetails}))
    order by b.id`.execute(db);
  return withoutTorn(db, new Set(rows.map(({ id }) => id)));
}

/** Leaves out batches with a payout that pays one of a batch that stays, or is paid again by one. */
async function withoutTorn(db: Db, batches: Set<string>): Promise<string[]> {
  const links = await sql<{ one: string; other: string }>`
    select distinct s.batch_id as one, o.batch_id as other from payouts s join payouts o on o.id = s.successor_of
    where s.batch_id <> o.batch_id`.execute(db);
  for (let before = -1; before !== batches.size; ) {
    before = batches.size;
    for (const { one, other } of links.rows)
      if (!batches.has(one) || !batches.has(other)) for (const id of [one, other]) batches.delete(id);
  }
  return [...batches];
}

/** The number of the last frozen run that ended before `until`, with all before it; never the newest run of all. */
export async function archivableRuns(db: Db, until: string): Promise<bigint> {
  const { rows } = await sql<{ frozen: bigint | null }>`select max(r.frozen) as frozen from runs r
    where r.frozen < (select min(k.frozen) from runs k where k.frozen is not null
      and (k.finished_at is null or k.finished_at >= ${until} or k.reports_due = 1
        or k.frozen = (select max(frozen) from runs)))`.execute(db);
  return rows[0]?.frozen ?? 0n;
}
