import { type RawBuilder, sql } from 'kysely';
import { jsonText } from '../core/storage/dialect.ts';
import { approvalLimits, serverPrefix } from './approval.ts';
import type { Brakes } from './brakes.ts';
import { needsApprovalOfPayees } from './payee-facts.ts';

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
function isByPerson(batch: RawBuilder<unknown>): RawBuilder<boolean> {
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

/**
 * True in SQL for a batch that needs a person's approval for whom it pays, by today's rule, and has none (P37). One that
 * was not compared at its intake needs one too: no approval before counts. The same rule as `payeesAsked` has, without
 * reading every change.
 */
export function asksForPayees(
  { payees: rule }: Pick<Brakes, 'payees'>,
  batch: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (!needsApprovalOfPayees(rule)) return sql<boolean>`(1 = 0)`;
  const found = sql.ref('c.found');
  const marked = jsonText(found, 'marked');
  const waived = jsonText(found, 'waived');
  const isSome = (count: RawBuilder<string | null>): RawBuilder<boolean> => sql`cast(${count} as bigint) > 0`;
  const asks = [
    isSome(jsonText(found, 'accountChanged')),
    isSome(jsonText(jsonText(found, 'hundredfold'), 'count')),
    sql<boolean>`${jsonText(found, 'inflated')} <> '[]'`,
    sql<boolean>`${waived} is not null`,
  ];
  // No approval before showed these payees to anybody.
  const unseen = [sql<boolean>`c.found is null`];
  // Of such a batch only marked rows wait, by a rule as strict as today's.
  const unmarked = [sql<boolean>`${marked} is null`];
  if (rule === 'approve_new') {
    asks.push(isSome(jsonText(found, 'newPayees')));
    unseen.push(sql`(${jsonText(found, 'countsNew')} is null and coalesce(${waived}, '') <> 'approve_new')`);
    unmarked.push(sql`${marked} <> 'approve_new'`);
  }
  const any = (some: RawBuilder<boolean>[]): RawBuilder<unknown> => sql.join(some, sql` or `);
  return sql<boolean>`exists (select 1 from batches as w left join payee_comparisons as c on c.batch_id = w.id
    where w.id = ${batch} and (${any(unmarked)})
      and (${any(unseen)} or not ${isByPerson(batch)} and (${any(asks)})))`;
}
