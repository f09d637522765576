import { type RawBuilder, sql } from 'kysely';
import type { Contradiction } from '../../core/domain/contradiction.ts';
import { pairConflictKinds } from '../../core/domain/pair-conflicts.ts';
import { contradictionIn } from '../../core/ledger/contradiction-columns.ts';
import { isSettledAs } from '../../core/ledger/stored-sets.ts';
import { literals } from '../../core/storage/dialect.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';
import { lastContradicts } from './doubts.sql.ts';

const columns = [
  'id',
  'batch_id',
  'reference',
  'trx',
  'transfer_id',
  'currency',
  'state',
  'evidence',
] as const;

/** A payout whose last look-up that said anything contradicts the ledger. */
export type Contradicted = Pick<Payout, (typeof columns)[number]> & {
  contradiction: Contradiction;
  answered_at: string | null;
  accepted: boolean;
};

/** Returns those payouts, by id, without those of which the run's list found a contradiction too: that one counts. */
export async function contradictedAfter(
  db: Db,
  { run }: { run: string },
  after: bigint,
  limit: number,
): Promise<Contradicted[]> {
  const rows = await contradicted(db)
    .select(columns.map((column) => `p.${column}` as const))
    .select(['q.outcome', 'q.said', 'q.against', 'q.differences', 'q.answered_at'])
    .select(
      sql<bigint>`(select count(*) from attempts a where a.payout_id = p.id and a.outcome = 'accepted')`.as(
        'acceptances',
      ),
    )
    .where((eb) => eb.not(knownWhenClosed))
    .where((eb) => eb.not(isAboutAnother(run)))
    .where('q.payout_id', '>', after)
    .where(
      sql<boolean>`not exists (select 1 from discrepancies d where d.payout_id = p.id and d.last_run_id = ${run}
        and d.kind in (${literals(pairConflictKinds)}))`,
    )
    .orderBy('q.payout_id')
    .limit(limit)
    .execute();
  return rows.flatMap(({ acceptances, ...row }) => {
    const contradiction = contradictionIn('details', row.outcome, row);
    return contradiction === null ? [] : [{ ...row, contradiction, accepted: acceptances > 0n }];
  });
}

/** P32: a person closed payout `p` in its present state when the details had already said what look-up `q` says. */
const knownWhenClosed = sql<boolean>`exists (select 1 from history h join inquiries e on e.payout_id = h.payout_id
  where h.payout_id = p.id and ${isSettledAs('p.state')}
    and e.kind = 'details' and e.outcome = q.outcome and coalesce(e.said, '') = coalesce(q.said, '')
    and coalesce(e.against, '') = coalesce(q.against, '') and coalesce(e.differences, '') = coalesce(q.differences, '')
    and e.history_seq < h.seq)`;

/**
 * P17: two sends of payout `p` made two transfers, and the run's list shows one paid and one failed. Details by reference
 * show one of them only: look-up `q`, which said failed, was about the other.
 */
function isAboutAnother(run: string): RawBuilder<boolean> {
  const isShown = (status: string): RawBuilder<boolean> =>
    sql`exists (select 1 from listed l where l.run_id = ${run} and l.payout_id = p.id and lower(trim(l.status)) = ${status})`;
  return sql`(q.outcome = 'against_ledger' and q.said = 'failed' and p.state = 'success'
    and ${isShown('success')} and ${isShown('failed')})`;
}

/** Payouts that a details look-up contradicted, and that no look-up has confirmed since: worth asking again. */
export async function contradictedIds(db: Db): Promise<bigint[]> {
  const rows = await contradicted(db).select('p.id').execute();
  return rows.map(({ id }) => id);
}

function contradicted(db: Db) {
  return db
    .selectFrom('inquiries as q')
    .innerJoin('payouts as p', 'p.id', 'q.payout_id')
    .where(lastContradicts);
}
