import { unresolvedStates } from '../../core/domain/discrepancy-life.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** How many discrepancies people resolved since a run began, once nothing at all is open; 0 before that. */
export async function decidedSince(db: Db | Trx, startedAt: string): Promise<number> {
  const open = await db
    .selectFrom('discrepancies')
    .select('id')
    .where('state', 'in', unresolvedStates)
    .limit(1)
    .executeTakeFirst();
  if (open) return 0;
  const { n } = await db
    .selectFrom('discrepancies')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('resolved_by', '=', 'person')
    .where('resolved_at', '>=', startedAt)
    .executeTakeFirstOrThrow();
  return Number(n);
}
