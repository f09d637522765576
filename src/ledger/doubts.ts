import { type RawBuilder, sql } from 'kysely';
import { idsOf } from './bulk.ts';
import type { Db, Trx } from './open.ts';

/**
 * Questions of which one stands open for a payout, as conditions on its row `p`: each says that it may have been paid
 * although the ledger holds that it came to nothing (P14).
 */

/** The list, or the details beside it, showed another status, and no run and no person has settled that. */
export const disputedStatus: RawBuilder<boolean> = sql`exists (select 1 from discrepancies d
  where d.payout_id = p.id and d.kind = 'status_conflict' and d.state <> 'resolved' and d.actual <> 'failed')`;

/**
 * Of a payout's inquiries `q`, the last details look-up that told anything, where it contradicts. The literals are those
 * of the index that holds just these.
 */
const lastContradicts: RawBuilder<boolean> = sql`q.kind = 'details' and q.outcome >= 'conflict' and q.outcome < 'conflicu'
    and not exists (select 1 from inquiries later where later.payout_id = q.payout_id and later.id > q.id
      and later.kind = 'details' and (later.outcome = 'found' or later.outcome like 'conflict%'))`;

/** The last details look-up that told anything contradicts it. */
export const contradictedByDetails: RawBuilder<boolean> = sql`exists (select 1 from inquiries q
  where q.payout_id = p.id and ${lastContradicts})`;

/** An authentic webhook contradicts it, and no look-up asked since has said otherwise (P18). */
export const contradictedByWebhook: RawBuilder<boolean> = sql`exists (select 1 from webhooks w
  where w.payout_id = p.id and w.effect like 'conflict%' and w.effect not like 'conflict: a webhook says failed%'
    and not exists (select 1 from inquiries a where a.payout_id = p.id and a.kind = 'details'
      and a.asked_at >= w.received_at and (a.outcome = 'found' or (p.state = 'refused' and a.outcome = 'not_found'))))`;

/** Of these payouts, by id, what the last details look-up that told anything contradicts them with. */
export async function contradictions(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, { outcome: string; answeredAt: string }>> {
  const { rows } = await sql<{ id: bigint; outcome: string; at: string }>`
    select q.payout_id as id, q.outcome, coalesce(q.answered_at, '') as at from inquiries q
    where q.payout_id in ${idsOf(ids)}
      and ${lastContradicts}`.execute(db);
  return new Map(rows.map(({ id, outcome, at }) => [id, { outcome, answeredAt: at }]));
}

/** Of these payouts those about which a details look-up is due that nobody has answered yet, with its reason, by id. */
export async function openQuestionsOf(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, string>> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['payout_id', 'reason'])
    .where('payout_id', 'in', ids)
    .where('kind', '=', 'details')
    .where('outcome', 'is', null)
    .execute();
  return new Map(rows.map(({ payout_id, reason }) => [payout_id, reason]));
}
