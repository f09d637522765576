import { sql } from 'kysely';
import { formatMinor } from '../core/domain/money.ts';
import { type ApprovalCause, addHoldReason } from '../core/ledger/hold-reasons.ts';
import { comparisonOf, waiveComparison } from '../core/ledger/payee-comparisons.ts';
import { textsOf } from '../core/storage/bulk.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Batch } from '../core/storage/tables/tables.ts';
import { approvalAsked, isForPerson } from './approval.ts';
import { batchTotals } from './approvals.sql.ts';
import { asksForPayees } from './approved.sql.ts';
import type { Brakes } from './brakes.ts';
import { needsApprovalOfPayees, payeesAsked } from './payee-facts.ts';

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
  if (!isUncompared || !needsApprovalOfPayees(payees)) return;
  const totals = [...(await batchTotals(trx, id))];
  const shown = totals.map(([currency, amount]) => [currency, formatMinor(amount, currency)]);
  await waiveComparison(trx, id, { rule: payees, totalsNow: Object.fromEntries(shown) });
}

/** Those of these batches that wait for a person's approval for whom they pay, as {@link asksForPayees} has it. */
export async function unmarkedByPayees(
  db: Db | Trx,
  rule: Pick<ApprovalRule, 'payees'>,
  batches: readonly string[],
): Promise<Set<string>> {
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .where('id', 'in', textsOf([...new Set(batches)]))
    .where(asksForPayees(rule, sql.ref('batches.id')))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
