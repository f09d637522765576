import { type RawBuilder, sql } from 'kysely';
import type { Contradiction } from '../domain/contradiction.ts';
import type { InquiryReason } from '../domain/inquiry-reason.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import { idsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';

/**
 * Questions of which one stands open for a payout, as conditions on its row `p`: each says that it may have been paid
 * although the ledger holds that it came to nothing (P14).
 */

/** The outcomes of a look-up that tell anything of the payout. */
const telling: RawBuilder<string> = sql`('found', 'not_found', 'against_ledger', 'differs')`;

/** A discrepancy `d`: the list, or the details, showed another status, and no run and no person has settled that. */
export const disputes: RawBuilder<boolean> = sql`(d.kind = 'status_conflict' and d.state <> 'resolved'
  and d.actual <> 'failed')`;
/**
 * Of a payout's inquiries `q`, the last details look-up that told anything, where it contradicts. The literals are those
 * of the index that holds just these.
 */
export const lastContradicts = sql<boolean>`(q.kind = 'details' and q.outcome in ('against_ledger', 'differs')
    and not exists (select 1 from inquiries later where later.payout_id = q.payout_id and later.id > q.id
      and later.kind = 'details' and later.outcome in ('found', 'against_ledger', 'differs')))`;

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
 * Of a webhook `w` about a payout `p`: the last look-up that told anything was asked since and agrees with the ledger, or
 * told anything at all where only the webhook's timestamp is in doubt. A refusal is a proof of its own (P6), and of an
 * unknown a person decides: there an answer without the transfer is enough. By the history where the webhook stands in it:
 * a clock that was set back makes an older answer the later one.
 */
const answeredSince: RawBuilder<boolean> = sql`(exists (select 1 from inquiries a where a.payout_id = p.id
      and a.kind = 'details' and a.asked_at >= w.received_at and a.outcome in ${telling}
      and (w.verdict = 'stale'
        or (a.outcome = 'found' and (a.said = 'failed' or (a.said = 'returned' and p.state = 'returned')))
        or (a.outcome = 'not_found' and p.state in ('refused', 'unknown', 'ready', 'held')))
      and not exists (select 1 from inquiries later where later.payout_id = p.id and later.kind = 'details'
        and later.id > a.id and later.outcome in ${telling}))
    and not exists (select 1 from history h where h.payout_id = p.id and h.source = 'webhook ' || w.id
      and not exists (select 1 from history l where l.payout_id = p.id and l.seq > h.seq and l.source = 'details')))`;

/**
 * A webhook `w` about payout `p` contradicts it, says that it was paid although it came to nothing, or bore a stale
 * timestamp, which nobody signs; and no look-up has settled that (P14, P18). That it failed is no sign that it was paid.
 */
export const webhookStands: RawBuilder<boolean> = sql`((w.verdict in ('against_ledger', 'differs')
    or (w.verdict in ('against_webhook', 'stale') and coalesce(w.said, '') <> 'failed')
    or (w.verdict = 'says' and w.said = 'success' and p.state in ('failed', 'refused', 'unknown', 'ready', 'held')))
  and not ${answeredSince})`;

/** A webhook about payout `p` stands against it. */
export const contradictedByWebhook: RawBuilder<boolean> = sql`exists (select 1 from webhooks w
  where w.payout_id = p.id and ${webhookStands})`;

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
): Promise<Map<bigint, Contradiction | null>> {
  const rows = await db
    .selectFrom('inquiries as q')
    .select(['q.payout_id', 'q.outcome', 'q.said', 'q.against', 'q.differences'])
    .where('q.payout_id', 'in', idsOf(ids))
    .where(lastContradicts)
    .execute();
  return new Map(rows.map((row) => [row.payout_id, contradictionIn('details', row.outcome, row)]));
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
