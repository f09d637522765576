import type { DiscrepancyKind } from '../../core/domain/discrepancy-kinds.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db } from '../../core/storage/ledger.ts';

/** A discrepancy of a payout that nobody has closed. */
export type OpenOf = { kind: DiscrepancyKind; expected: string; actual: string };

/** What is open or acknowledged of each of these payouts, by payout, in the order of kinds. */
export async function openDiscrepanciesOf(
  db: Db,
  payouts: readonly bigint[],
): Promise<Map<bigint, OpenOf[]>> {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['payout_id', 'kind', 'expected', 'actual'])
    .where('payout_id', 'in', idList(payouts))
    .where('state', '<>', 'resolved')
    .orderBy('kind')
    .orderBy('id')
    .execute();
  const found = new Map<bigint, OpenOf[]>();
  for (const { payout_id: payout, kind, expected, actual } of rows)
    if (payout !== null) found.set(payout, [...(found.get(payout) ?? []), { kind, expected, actual }]);
  return found;
}
