import { type RawBuilder, sql } from 'kysely';
import { idList } from '../storage/bulk.ts';
import { hasRow } from '../storage/counting.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { type Due, dueBy } from './inquiries.ts';

/** The process that claims, and the look-ups that it is asking now. */
type Claimer = { workerId: string; asking: readonly bigint[] };

/**
 * Claims due look-ups for one process, the oldest first. A claim lasts until the look-up is answered, freed, or its process
 * has ended. A process claims its own again when it stopped asking them. One that was taken over claims none (P3).
 */
export async function claimDue(
  trx: Trx,
  { workerId, asking }: Claimer,
  { at, limit }: { at: string; limit: number },
): Promise<Due[]> {
  const { rows } = await sql<{ id: bigint; payout_id: bigint; due_at: string; unknown: bigint }>`
    update inquiries set worker_id = ${workerId}
    where id in (select i.id from inquiries i where i.kind = 'details' and i.outcome is null and ${dueBy(at)}
        and ${isFree(workerId, asking)} order by i.due_at, i.id limit ${limit})
      and not exists (select 1 from workers w where w.id = ${workerId} and w.ended_at is not null)
    returning id, payout_id, due_at,
      (select count(*) from payouts p where p.id = inquiries.payout_id and p.state = 'unknown') as unknown`.execute(
    trx,
  );
  return rows
    .toSorted((a, b) => (a.due_at === b.due_at ? Number(a.id - b.id) : a.due_at < b.due_at ? -1 : 1))
    .map(({ id, payout_id, unknown }) => ({ id, payoutId: payout_id, unknown: unknown > 0n }));
}

/** Claims the open look-ups of these payouts that no other process asks, due or not. Returns their ids. */
export async function claimOf(
  trx: Trx,
  { workerId, asking }: Claimer,
  payoutIds: readonly bigint[],
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    update inquiries set worker_id = ${workerId}
    where id in (select i.id from inquiries i where i.payout_id in ${idList(payoutIds)} and i.kind = 'details'
        and i.outcome is null and ${isFree(workerId, asking)})
      and not exists (select 1 from workers w where w.id = ${workerId} and w.ended_at is not null)
    returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

function isFree(workerId: string, asking: readonly bigint[]): RawBuilder<boolean> {
  return sql`(i.worker_id is null or (i.worker_id = ${workerId} and i.id not in ${idList(asking)}))`;
}

/** Frees these look-ups of a process, where they are still open. */
export async function freeSome(trx: Trx, workerId: string, ids: readonly bigint[]): Promise<void> {
  await sql`update inquiries set worker_id = null
    where id in ${idList(ids)} and worker_id = ${workerId} and outcome is null`.execute(trx);
}

/** Frees all look-ups of a process that has ended (P3). */
export async function freeClaims(trx: Trx, workerId: string): Promise<void> {
  await sql`update inquiries set worker_id = null
    where kind = 'details' and outcome is null and worker_id = ${workerId}`.execute(trx);
}

/** A look-up that something raised now; the ladder's own times belong to `schedules.follow_up`. */
const raisedNow = sql<boolean>`(i.rung_due_at is null or i.due_at < i.rung_due_at)`;

/** Whether a look-up that something raised is due, and no process asks it. */
export function isLookUpWaiting(db: Db, at: string): Promise<boolean> {
  return hasRow(
    db
      .selectFrom('inquiries as i')
      .where('i.kind', '=', 'details')
      .where('i.outcome', 'is', null)
      .where('i.worker_id', 'is', null)
      .where(dueBy(at))
      .where(raisedNow),
  );
}

/** How many raised look-ups are due, and since when the oldest of them is (ISO UTC). */
export type LookUpLag = { due: number; oldestDue: string | null };

export async function lookUpLag(db: Db, at: string): Promise<LookUpLag> {
  const row = await db
    .selectFrom('inquiries as i')
    .select((eb) => [eb.fn.countAll<bigint>().as('due'), eb.fn.min('i.due_at').as('oldest')])
    .where('i.kind', '=', 'details')
    .where('i.outcome', 'is', null)
    .where('i.due_at', '<=', at)
    .where(raisedNow)
    .executeTakeFirstOrThrow();
  return { due: Number(row.due), oldestDue: row.oldest };
}
