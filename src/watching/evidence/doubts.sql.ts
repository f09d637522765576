import { type RawBuilder, sql } from 'kysely';
import type { Contradiction } from '../../core/domain/contradiction.ts';
import type { InquiryReason } from '../../core/domain/inquiry-reason.ts';
import { contradictionIn } from '../../core/ledger/contradiction-columns.ts';
import { eventList } from '../../core/ledger/stored-sets.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/**
 * Doubts about a payout, as conditions on its row `p`. Each says that it may have been paid although the ledger holds that
 * it came to nothing (P14).
 */

/** The outcomes of a look-up that say anything about the payout. */
const telling: RawBuilder<string> = sql`('found', 'not_found', 'against_ledger', 'differs')`;

/**
 * Of a discrepancy `d`: the list or the details showed another status, and neither a run nor a person has settled that.
 */
export const disputes: RawBuilder<boolean> = sql`(d.kind = 'status_conflict' and d.state <> 'resolved'
  and d.actual <> 'failed')`;
/**
 * True for the inquiry `q` that is its payout's last details look-up that said anything, where it contradicts the ledger.
 * The literals must match the partial index. What said failed of a payout that has come back agrees (P36).
 */
export const lastContradicts = sql<boolean>`(q.kind = 'details' and q.outcome in ('against_ledger', 'differs')
    and not (q.outcome = 'against_ledger' and q.said = 'failed' and exists (
      select 1 from payouts r where r.id = q.payout_id and r.state = 'returned'))
    and not exists (select 1 from inquiries later where later.payout_id = q.payout_id
      and (later.history_seq, later.id) > (q.history_seq, q.id)
      and later.kind = 'details' and later.outcome in ('found', 'against_ledger', 'differs')))`;

/** The last details look-up that said anything contradicts it. */
export const contradictedByDetails: RawBuilder<boolean> = sql`exists (select 1 from inquiries q
  where q.payout_id = p.id and ${lastContradicts})`;

/** Since it failed, the details have said that it is on its way or paid, and have not said failed again (P14). */
export const revivedByDetails: RawBuilder<boolean> = sql`(p.state = 'failed' and exists (select 1 from history h
  where h.payout_id = p.id and h.event in ${eventList('details says pending', 'details says success')}
    and h.seq > (select max(m.seq) from history m
      where m.payout_id = p.id and m.to_state = 'failed' and m.from_state <> 'failed')
    and not exists (select 1 from history l
      where l.payout_id = p.id and l.seq > h.seq and l.event in ${eventList('details says failed')})))`;

/**
 * A list contradicts the end of the payout. The newest of these runs that shows a transfer of it must have begun after
 * that end. It shows the transfer as on its way again. Of a payout that came back, it shows another transfer that stands
 * (P17). The index is named: without statistics SQLite would read a whole run instead.
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
 * A look-up has answered webhook `w` about payout `p`. It was asked since, it is the last one that said anything, and it
 * agrees with the ledger. For a webhook with a stale timestamp any answer is enough. So is `not_found` for a refusal,
 * which is a proof of its own (P6), and for an unknown, about which a person decides. Ids say what came first: times
 * would make an older answer the later one after a clock was set back (P33).
 */
const answeredSince: RawBuilder<boolean> = sql`exists (select 1 from inquiries a where a.payout_id = p.id
      and a.kind = 'details' and a.webhook_mark >= w.id and a.outcome in ${telling}
      and (w.verdict = 'stale'
        or (a.outcome = 'found' and (a.said = 'failed' or (a.said = 'returned' and p.state = 'returned')))
        or (a.outcome = 'not_found' and p.state in ('refused', 'unknown', 'ready', 'held')))
      and not exists (select 1 from inquiries later where later.payout_id = p.id and later.kind = 'details'
        and (later.history_seq, later.id) > (a.history_seq, a.id) and later.outcome in ${telling}))`;

/**
 * A webhook `w` stands against payout `p`, and no look-up has settled that (P14, P18). It contradicts the payout, or says
 * that it was paid although it came to nothing, or bears a stale timestamp, which no signature covers. A webhook that
 * says failed is no sign that it was paid.
 */
export const webhookStands: RawBuilder<boolean> = sql`((w.verdict in ('against_ledger', 'differs')
    or (w.verdict in ('against_webhook', 'stale') and coalesce(w.said, '') <> 'failed')
    or (w.verdict = 'says' and w.said = 'success' and p.state in ('failed', 'refused', 'unknown', 'ready', 'held')))
  and not ${answeredSince})`;

/** A webhook about payout `p` stands against it. */
export const contradictedByWebhook: RawBuilder<boolean> = sql`exists (select 1 from webhooks w
  where w.payout_id = p.id and ${webhookStands})`;

/** A webhook `w` of no payout when it was applied names payout `p`, in any case, as a partial index has it. */
export const namedBefore: RawBuilder<boolean> = sql`(lower(w.reference) = coalesce(p.reference_key, '')
  and w.payout_id is null and w.applied_at is not null and w.kind = 'payout')`;

/** A webhook `w` of no payout, applied or not, names payout `p` as the service is most likely to write it. */
const named: RawBuilder<boolean> = sql`(coalesce(w.reference, '') in (p.reference, p.reference_key, upper(p.reference_key))
  and w.payout_id is null and w.kind = 'payout')`;

/** A deleted webhook of no payout, of which `unmatched_references` row `w` is left, named payout `p`. */
export const keptName: RawBuilder<boolean> = sql`w.reference_key = coalesce(p.reference_key, '')`;

const unanswered: RawBuilder<boolean> = sql`not exists (select 1 from inquiries a where a.payout_id = p.id
  and a.kind = 'details' and a.webhook_mark >= w.id and a.outcome in ('found', 'not_found'))`;

/** An authentic webhook named its reference before it was in this ledger, and no look-up has been answered since. */
export const isNamedByEarlierWebhook: RawBuilder<boolean> = sql`(exists (select 1 from webhooks w where ${named} and ${unanswered})
  or exists (select 1 from webhooks w where ${namedBefore} and ${unanswered})
  or exists (select 1 from unmatched_references w where ${keptName} and ${unanswered}))`;

/** How the last details look-up that said anything contradicts each of these payouts, by id. */
export async function contradictions(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, Contradiction | null>> {
  const rows = await db
    .selectFrom('inquiries as q')
    .select(['q.payout_id', 'q.outcome', 'q.said', 'q.against', 'q.differences'])
    .where('q.payout_id', 'in', idList(ids))
    .where(lastContradicts)
    .execute();
  return new Map(rows.map((row) => [row.payout_id, contradictionIn('details', row.outcome, row)]));
}

/** Those of these payouts that the details have shown as on their way or paid since they failed, and not failed since. */
export async function revivedOf(db: Db | Trx, ids: readonly bigint[]): Promise<Set<bigint>> {
  const { rows } = await sql<{ id: bigint }>`
    select p.id from payouts p where p.id in ${idList(ids)} and ${revivedByDetails}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Those of these payouts that have a details look-up without an answer yet, each with its reason, by id. */
export async function openQuestionsOf(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, InquiryReason>> {
  const rows = await db
    .selectFrom('inquiries')
    .select(['payout_id', 'reason'])
    .where('payout_id', 'in', idList(ids))
    .where('kind', '=', 'details')
    .where('outcome', 'is', null)
    .execute();
  return new Map(rows.map(({ payout_id, reason }) => [payout_id, reason]));
}
