import type { Db, Trx } from '../../core/storage/ledger.ts';

/** How many discrepancies of a run people resolved, once nothing at all is open; 0 before that. */
export async function decidedOfRun(
  db: Db | Trx,
  { run, startedAt }: { run: string; startedAt: string },
): Promise<number> {
  const open = await db
    .selectFrom('discrepancies')
    .select('id')
    .where('state', '<>', 'resolved')
    .limit(1)
    .executeTakeFirst();
  if (open) return 0;
  const { n } = await db
    .selectFrom('discrepancies')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .where('resolved_by', '=', 'person')
    .where((eb) => eb.or([eb('last_run_id', '=', run), eb('resolved_at', '>=', startedAt)]))
    .executeTakeFirstOrThrow();
  return Number(n);
}
