import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from './open.ts';

/** Each successor with each payout that it pays again, directly or through other successors (P20). */
const lineage = (of: RawBuilder<unknown>): RawBuilder<unknown> => sql`with recursive line (id, ancestor) as (
    select id, successor_of from payouts where successor_of is not null and ${of}
    union all
    select line.id, p.successor_of from line join payouts p on p.id = line.ancestor where p.successor_of is not null)`;

/** Payouts in `success` of which a successor was paid too, or may have been. */
export const paidAgain: RawBuilder<bigint> = sql`(${lineage(sql`true`)}
  select line.ancestor from line join payouts s on s.id = line.id
  where s.state in ('sending', 'pending', 'success', 'unknown'))`;

/** Of these payouts, the successors whose predecessor has not failed after all, with its reference and state. */
export async function aliveAncestors(
  db: Db | Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, { reference: string; state: string }>> {
  if (ids.length === 0) return new Map();
  const wanted = sql`id in (select value from json_each(${`[${ids.join(',')}]`}))`;
  const { rows } = await sql<{ id: bigint; reference: string; state: string }>`${lineage(wanted)}
    select line.id, p.reference, p.state from line join payouts p on p.id = line.ancestor
    where p.state not in ('failed', 'refused', 'returned')`.execute(db);
  return new Map(rows.map(({ id, reference, state }) => [id, { reference, state }]));
}
