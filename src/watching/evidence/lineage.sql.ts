import { type RawBuilder, sql } from 'kysely';
import { cameToNothing } from '../../core/domain/payout.ts';
import { restsOnPerson } from '../../core/domain/transition.ts';
import { idList } from '../../core/storage/bulk.ts';
import { literals } from '../../core/storage/dialect.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import {
  contradictedByDetails,
  contradictedByWebhook,
  disputes,
  listedSinceOver,
  revivedByDetails,
} from './doubts.sql.ts';

/** Each successor with each payout that it pays again, directly or through other successors (P20). */
const lineage = (of: RawBuilder<unknown>): RawBuilder<unknown> => sql`with recursive line (id, ancestor) as (
    select id, successor_of from payouts where successor_of is not null and ${of}
    union all
    select line.id, p.successor_of from line join payouts p on p.id = line.ancestor where p.successor_of is not null)`;

/** Payouts with a successor that was or may be paid. The cross join keeps SQLite off all payouts in these states. */
export const paidAgainIds: RawBuilder<bigint> = sql`(${lineage(sql`true`)}
  select line.ancestor from line cross join payouts s
  where s.id = line.id and s.state in ('sending', 'pending', 'success', 'unknown'))`;

/** A payout that is paid again and may not have failed. `doubt`: what contradicts its state; null: the state itself. */
export type Alive = {
  reference: string;
  state: string;
  doubt: null | 'list' | 'listed' | 'details' | 'person' | 'webhook';
};

/**
 * Finds, of these payouts, the successors whose predecessor has not failed, or may not have failed. A source that
 * contradicts a final state does not change it (P14), but nothing is paid again while the contradiction stands (P20). Nor
 * is anything paid again where only a person has said that it was not paid (P32). `runs`: those whose listings count.
 */
export async function aliveAncestors(
  db: Db | Trx,
  ids: readonly bigint[],
  runs: readonly string[],
): Promise<Map<bigint, Alive>> {
  if (ids.length === 0) return new Map();
  const wanted = sql`id in ${idList(ids)}`;
  // A successor that was cancelled was never sent, and the next one follows it.
  const isOver = sql`p.state in (${literals([...cameToNothing, 'cancelled'])})`;
  type Row = Omit<Alive, 'doubt'> & { id: bigint; evidence: string; doubt: 'state' | Alive['doubt'] };
  const { rows } = await sql<Row>`${lineage(wanted)}
    select line.id, p.reference, p.state, p.evidence, case when not ${isOver} then 'state'
        when exists (select 1 from discrepancies d where d.payout_id = p.id and ${disputes}) then 'list'
        when ${contradictedByDetails} or ${revivedByDetails} then 'details'
        when ${contradictedByWebhook} then 'webhook' when ${listedSinceOver(runs)} then 'listed' end as doubt
      from line join payouts p on p.id = line.ancestor`.execute(db);
  const found = new Map<bigint, Alive>();
  for (const { id, evidence, doubt: said, ...one } of rows) {
    const isSaidBefore = said === 'state' || said === 'list' || said === 'details';
    const doubt = !isSaidBefore && restsOnPerson(evidence) ? 'person' : said;
    // Of several predecessors, one whose state has changed counts more than one in doubt.
    if (doubt === 'state') found.set(id, { ...one, doubt: null });
    else if (doubt !== null && found.get(id)?.doubt !== null) found.set(id, { ...one, doubt });
  }
  return found;
}

/** Each of these payouts with all that it pays again, itself included, by id. */
export async function linesOf(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, Set<bigint>>> {
  const lines = new Map(ids.map((id) => [id, new Set([id])]));
  if (ids.length === 0) return lines;
  const wanted = sql`id in ${idList(ids)}`;
  const { rows } = await sql<{ id: bigint; ancestor: bigint }>`${lineage(wanted)}
    select id, ancestor from line`.execute(db);
  for (const { id, ancestor } of rows) lines.get(id)?.add(ancestor);
  return lines;
}

/** The payouts of a batch with what each pays again, as pairs of ids. */
export const linesOfBatch = (batch: string): RawBuilder<unknown> =>
  sql`(${lineage(sql`batch_id = ${batch}`)} select id, ancestor from line)`;
