import { type RawBuilder, sql } from 'kysely';
import type { InquiryReason } from '../domain/inquiry-reason.ts';
import { idsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';

/**
 * Questions of which one stands open for a payout, as conditions on its row `p`: each says that it may have been paid
 * although the ledger holds that it came to nothing (P14).
 */

/** {@link restsOnPerson} of payout `p`: no details and no list stand beside a person's word. */
export const isOnPersonsWord: RawBuilder<boolean> = sql`('+' || p.evidence || '+' like '%+person+%'
  and '+' || p.evidence || '+' not like '%+details+%' and '+' || p.evidence || '+' not like '%+listing+%')`;

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

/** The details said since it failed that it is on its way, or paid, and have not said failed again (P14). */
export const revivedByDetails: RawBuilder<boolean> = sql`(p.state = 'failed' and exists (select 1 from history h
  where h.payout_id = p.id and h.event in ('details says pending', 'details says success')
    and h.seq > (select max(m.seq) from history m
      where m.payout_id = p.id and m.to_state = 'failed' and m.from_state <> 'failed')
    and not exists (select 1 from history l
      where l.payout_id = p.id and l.seq > h.seq and l.event = 'details says failed')))`;

/**
 * The newest of these runs that shows a transfer of it, begun since it came to its end, shows it as on its way again, or
 * beside one that came back another that stands (P17). The index is named because SQLite, without statistics, reads a
 * whole run instead.
 */
export function listedSinceOver(runs: readonly string[]): RawBuilder<boolean> {
  if (runs.length === 0) return sql`1 = 0`;
  const among = sql.join(runs);
  const word = sql`lower(trim(l.status))`;
  return sql`exists (select 1 from listed l indexed by listed_payout join runs r on r.id = l.run_id
    where l.run_id in (${among}) and l.payout_id = p.id
      and ((p.state <> 'returned' and ${word} not in ('success', 'failed', 'returned', 'reversed', 'refunded', '96'))
        or (p.state = 'returned' and ${word} not in ('failed', 'returned', 'reversed', 'refunded', '96')
          and exists (select 1 from listed o indexed by listed_payout
            where o.run_id = l.run_id and o.payout_id = p.id and o.transfer_id <> l.transfer_id)))
      and r.history_mark >= (select max(m.id) from history m
        where m.payout_id = p.id and m.to_state = p.state and coalesce(m.from_state, '') <> m.to_state)
      and not exists (select 1 from listed n indexed by listed_payout join runs s on s.id = n.run_id
        where n.run_id in (${among}) and n.payout_id = p.id and n.transfer_id = l.transfer_id and s.rowid > r.rowid))`;
}

/**
 * Of a webhook `w` about a payout `p`: the details have told something since. By the history where the webhook stands in
 * it: a clock that was set back makes an older answer the later one.
 */
const answeredSince: RawBuilder<boolean> = sql`exists (select 1 from inquiries a where a.payout_id = p.id
      and a.kind = 'details' and a.asked_at >= w.received_at and (a.outcome = 'found'
        or (a.outcome = 'not_found' and (p.state in ('refused', 'ready', 'held') or w.effect like 'stale:%'))))
    and not exists (select 1 from history h where h.payout_id = p.id and h.source = 'webhook ' || w.id
      and not exists (select 1 from history l where l.payout_id = p.id and l.seq > h.seq and l.source = 'details'))`;

/**
 * An authentic webhook contradicts it, or its unsigned timestamp header was stale, and no look-up asked since has said
 * otherwise (P18).
 */
export const contradictedByWebhook: RawBuilder<boolean> = sql`exists (select 1 from webhooks w
  where w.payout_id = p.id and ((w.effect like 'conflict%' and w.effect not like 'conflict: a webhook says failed%')
      or (w.effect like 'stale:%' and w.effect not like 'stale: says failed%'))
    and not (${answeredSince}))`;

/**
 * A webhook `w` that was about nobody when it was applied names payout `p`, in whatever case: the condition of an index
 * that holds just these.
 */
export const namedBefore: RawBuilder<boolean> = sql`(lower(w.reference) = coalesce(p.reference_key, '')
  and w.payout_id is null and w.applied_at is not null and w.kind = 'payout')`;

/** A webhook `w` about nobody, applied or not, names payout `p` as the service is most likely to write it. */
const named: RawBuilder<boolean> = sql`(coalesce(w.reference, '') in (p.reference, p.reference_key, upper(p.reference_key))
  and w.payout_id is null and w.kind = 'payout')`;

const unanswered: RawBuilder<boolean> = sql`not exists (select 1 from inquiries a where a.payout_id = p.id
  and a.kind = 'details' and a.asked_at >= w.received_at and a.outcome in ('found', 'not_found'))`;

/** An authentic webhook named its reference before it was in this ledger, and no look-up has been answered since. */
export const heardOfBefore: RawBuilder<boolean> = sql`(exists (select 1 from webhooks w where ${named} and ${unanswered})
  or exists (select 1 from webhooks w where ${namedBefore} and ${unanswered}))`;

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

/** Those of these payouts that the details have shown on their way again since they failed, and not as failed since. */
export async function revivedOf(db: Db | Trx, ids: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await sql<{ id: bigint }>`
    select p.id from payouts p where p.id in ${idsOf(ids)} and ${revivedByDetails}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Of these payouts those about which a details look-up is due that nobody has answered yet, with its reason, by id. */
export async function openQuestionsOf(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, InquiryReason>> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['payout_id', 'reason'])
    .where('payout_id', 'in', ids)
    .where('kind', '=', 'details')
    .where('outcome', 'is', null)
    .execute();
  return new Map(rows.map(({ payout_id, reason }) => [payout_id, reason]));
}
