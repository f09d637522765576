import { type RawBuilder, sql } from 'kysely';
import { approvalLimits, serverPrefix } from './approval.ts';
import type { Brakes } from './brakes.ts';

/** True in SQL for an approval that no server gave. */
const isPersons = (by: string): RawBuilder<boolean> =>
  sql`(substr(${sql.ref(by)}, 1, ${sql.lit(serverPrefix.length)}) <> ${sql.lit(serverPrefix)})`;

const covered = (by: RawBuilder<boolean>): RawBuilder<boolean> => sql`exists (select 1 from approvals as a
  join batches as b on b.id = a.batch_id where a.batch_id = payouts.batch_id
    and a.bodies = b.body_digest and a.through_id >= payouts.id and ${by})`;

/**
 * True in SQL for a payout that an approval of its batch covers, over the frozen bodies that the batch has. For queries over
 * `payouts`.
 */
const isCovered = covered(sql`1 = 1`);

/** The same for an approval that a person gave. A server sees totals, and not whom they pay (P37). */
const isCoveredByPerson = covered(isPersons('a.approved_by'));

/** True in SQL for a batch that a person approved, over the frozen bodies that it has. */
export function isByPerson(batch: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (select 1 from approvals as h join batches as hb on hb.id = h.batch_id
    where h.batch_id = ${batch} and h.bodies = hb.body_digest and ${isPersons('h.approved_by')})`;
}

/** True in SQL for a payout whose own row waits for a person's approval, whatever its batch needs (P37). */
export const rowWaits: RawBuilder<boolean> = sql`(payouts.approval_needed = 1 and not ${isCoveredByPerson})`;

/**
 * True in SQL for a payout that no missing approval keeps back (P2). An approval over the same frozen bodies covers it,
 * where its batch needed one at intake or today's rule asks for one. A server's counts only where that rule asks the
 * server. A marked row has a person's. For queries over `payouts` and `batches`.
 */
export function isApproved(brakes: Pick<Brakes, 'approval' | 'approvalAbove'>): RawBuilder<boolean> {
  const byToday = brakes.approval === 'callback' ? isCovered : isCoveredByPerson;
  return sql<boolean>`((batches.approval_needed = 0 or ${isCovered}) and (not ${asked(brakes)} or ${byToday}) and not ${rowWaits})`;
}

/** What today's rule asks for. With the rule `above`, a batch without totals needs an approval. */
function asked(brakes: Pick<Brakes, 'approval' | 'approvalAbove'>): RawBuilder<boolean> {
  if (brakes.approval === 'none') return sql`(1 = 0)`;
  if (brakes.approval !== 'above') return sql`(1 = 1)`;
  const above = approvalLimits(brakes).map(
    ([currency, minor]) => sql`(t.currency = ${currency} and t.amount > ${minor})`,
  );
  if (above.length === 0) return sql`(1 = 0)`;
  const none = sql`not exists (select 1 from batch_totals as t where t.batch_id = batches.id)`;
  const over = sql`exists (select 1 from batch_totals as t where t.batch_id = batches.id and (${sql.join(above, sql` or `)}))`;
  return sql`(${none} or ${over})`;
}
