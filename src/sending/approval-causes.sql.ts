import { type RawBuilder, sql } from 'kysely';
import { formatMinor } from '../core/domain/money.ts';
import { type ApprovalCause, addHoldReason } from '../core/ledger/hold-reasons.ts';
import { comparisonOf, waiveComparison } from '../core/ledger/payee-comparisons.ts';
import { textsOf } from '../core/storage/bulk.ts';
import { jsonText } from '../core/storage/dialect.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { approvalAsked, isForPerson } from './approval.ts';
import { batchTotals } from './approvals.sql.ts';
import { isByPerson } from './approved.sql.ts';
import type { Brakes } from './brakes.ts';
import { payeesAsked } from './payee-facts.ts';

/** What says today which batches need an approval. */
export type ApprovalRule = Pick<Brakes, 'approval' | 'approvalAbove' | 'payees'>;

/** Why a batch needs an approval by today's rule, from what was kept at its intake. */
export async function causesNow(
  db: Db | Trx,
  rule: ApprovalRule,
  { id, totals }: { id: string; totals: ReadonlyMap<string, bigint> },
): Promise<ApprovalCause[]> {
  const causes: ApprovalCause[] = [];
  const asked = approvalAsked(rule, totals);
  if (asked) causes.push(asked);
  if ((await unmarkedByPayees(db, rule, [id])).size > 0)
    causes.push(payeesAsked(rule.payees ?? 'off', await comparisonOf(db, id)) ?? { kind: 'unapproved' });
  return causes;
}

/** Holds a batch for what only a person may approve by today's rule, before a server's yes lifts the rest (P37). */
export async function holdForPerson(
  trx: Trx,
  rule: ApprovalRule,
  { id, dropped_by: dropper }: Pick<Batch, 'id' | 'dropped_by'>,
): Promise<void> {
  const causes = await causesNow(trx, rule, { id, totals: await batchTotals(trx, id) });
  for (const why of causes.filter(isForPerson))
    await addHoldReason(trx, id, { kind: 'approval', why, dropper });
}

/** Keeps that a person has approved a batch by today's rule, and knew that it was not compared as that asks (P37). */
export async function noteWaived(trx: Trx, rule: ApprovalRule, id: string): Promise<void> {
  const { payees } = rule;
  const isUncompared = (await unmarkedByPayees(trx, rule, [id])).size > 0;
  if (!isUncompared || (payees !== 'approve_changed' && payees !== 'approve_new')) return;
  const totals = [...(await batchTotals(trx, id))];
  const shown = totals.map(([currency, amount]) => [currency, formatMinor(amount, currency)]);
  await waiveComparison(trx, id, { rule: payees, totalsNow: Object.fromEntries(shown) });
}

/**
 * Those of these batches that need a person's approval for whom they pay, by today's rule, and have none (P37). One that
 * was not compared at its intake needs one too: no approval before counts. The same rule as {@link payeesAsked}, without
 * reading every change.
 */
export async function unmarkedByPayees(
  db: Db | Trx,
  { payees: rule = 'off' }: Pick<ApprovalRule, 'payees'>,
  batches: readonly string[],
): Promise<Set<string>> {
  if ((rule !== 'approve_changed' && rule !== 'approve_new') || batches.length === 0) return new Set();
  const found = sql.ref('c.found');
  // Of such a batch only marked rows wait, by a rule as strict as today's.
  const marked = jsonText(found, 'marked');
  const isSome = (count: RawBuilder<string | null>): RawBuilder<boolean> => sql`cast(${count} as bigint) > 0`;
  const waived = jsonText(found, 'waived');
  const asks = [
    isSome(jsonText(found, 'accountChanged')),
    isSome(jsonText(jsonText(found, 'hundredfold'), 'count')),
    sql<boolean>`${jsonText(found, 'inflated')} <> '[]'`,
    sql<boolean>`${waived} is not null`,
  ];
  // No approval before showed these payees to anybody.
  const unseen = [sql<boolean>`c.found is null`];
  if (rule === 'approve_new') {
    asks.push(isSome(jsonText(found, 'newPayees')));
    unseen.push(sql`(${jsonText(found, 'countsNew')} is null and coalesce(${waived}, '') <> 'approve_new')`);
  }
  const rows = await db
    .selectFrom('batches as b')
    .leftJoin('payee_comparisons as c', 'c.batch_id', 'b.id')
    .select('b.id')
    .where('b.id', 'in', textsOf([...new Set(batches)]))
    .where(sql<boolean>`(${marked} is null or ${marked} <> ${rule} and ${rule} = 'approve_new')`)
    .where(
      sql<boolean>`(${sql.join(unseen, sql` or `)} or not ${isByPerson(sql.ref('b.id'))} and (${sql.join(asks, sql` or `)}))`,
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}
