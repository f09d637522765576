import { kindsWhere } from '../core/domain/discrepancy-kinds.ts';
import { unresolvedStates } from '../core/domain/discrepancy-life.ts';
import { type PayoutState, payoutStates } from '../core/domain/payout.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Discrepancy } from '../core/storage/tables/tables.ts';

const pageSize = 500;

export type Conflict = Pick<
  Discrepancy,
  'id' | 'kind' | 'reference' | 'batch_id' | 'transfer_id' | 'currency'
>;

const counted = kindsWhere(({ inVerdict }) => inVerdict === 'itself');

/** Unresolved discrepancies that keep a currency from being reconciled though no line may show their money. */
export function openConflicts(db: Db | Trx): AsyncGenerator<Conflict[]> {
  return keyset<Conflict>(pageSize, (last) =>
    db
      .selectFrom('discrepancies')
      .select(['id', 'kind', 'reference', 'batch_id', 'transfer_id', 'currency'])
      .where('state', 'in', unresolvedStates)
      .where('kind', 'in', counted)
      .where('id', '>', last?.id ?? '')
      .orderBy('id')
      .limit(pageSize)
      .execute(),
  );
}

const unsent: readonly PayoutState[] = ['held', 'ready', 'cancelled'];
const submitted = payoutStates.filter((state) => !unsent.includes(state));

/** The currencies of every payout that was ever submitted, from the kept totals. */
export async function statedCurrencies(db: Db | Trx): Promise<string[]> {
  const rows = await db
    .selectFrom('payout_totals')
    .select('currency')
    .distinct()
    .where('n', '>', 0n)
    .where('state', 'in', submitted)
    .orderBy('currency')
    .execute();
  return rows.map(({ currency }) => currency);
}
