import { sql } from 'kysely';
import type { ReadAt } from '../../core/domain/sure-return.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';

/** The first run that saw each of these paid payouts as failed, and when it read its list (P36); by payout. */
export async function firstTurns(
  trx: Trx,
  ids: readonly bigint[],
): Promise<Map<bigint, ReadAt & { run: string }>> {
  const rows = await trx
    .selectFrom('payouts')
    .innerJoin('runs', 'runs.id', 'payouts.turned_run')
    .select(['payouts.id', 'runs.id as run', 'runs.started_at', 'runs.list_cut'])
    .where('payouts.id', 'in', idList(ids))
    .execute();
  return new Map(
    rows.map(({ id, run, started_at, list_cut }) => [
      id,
      { run, ours: started_at, service: list_cut ?? started_at },
    ]),
  );
}

/**
 * True where only a complete list can say whether a paid payout came back (P36). A run saw it as failed at `until` (ISO
 * UTC) or before; or a short cut shows it as failed, and no complete list has been read since.
 */
export async function wantsCompleteList(db: Db, until: string): Promise<boolean> {
  const { rows } = await sql<{ wants: bigint }>`select case when
    exists (select 1 from payouts p join runs r on r.id = p.turned_run
      where p.turned_run is not null and r.started_at <= ${until})
    or exists (select 1 from discrepancies d where d.kind = 'status_conflict' and d.state <> 'resolved'
      and d.expected = 'success' and d.actual = 'failed' and not exists (select 1 from runs r
        where r.list_standing = 'complete' and r.finished_at >= d.first_seen_at))
    then 1 else 0 end as wants`.execute(db);
  return BigInt(rows[0]?.wants ?? 0) === 1n;
}
