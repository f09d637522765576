import { sql } from 'kysely';
import type { HistoryEvent } from '../../core/domain/history-event.ts';
import { type PayoutState, provingSources, witnessStatuses } from '../../core/domain/payout.ts';
import { readDetail } from '../../core/ledger/history.ts';
import { eventList, settledEvents } from '../../core/ledger/stored-sets.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type { Payout } from '../../core/storage/tables/tables.ts';
import { latestRunFirst } from '../../watching/listing/listings.sql.ts';

/** A payout whose end a later word of the service changed (P14, P32), and the decision that had ended it, if one did. */
export type Overturned = Pick<
  Payout,
  'id' | 'batch_id' | 'reference' | 'trx' | 'transfer_id' | 'amount' | 'currency' | 'state'
> & {
  entry: bigint;
  before: PayoutState;
  word: HistoryEvent;
  overturned_at: string;
  decision: { source: string; at: string; note: string } | null;
};

type OverturnedRow = Omit<Overturned, 'decision'> & {
  decided_by: string | null;
  decided_at: string | null;
  detail: string | null;
};

/** The latest run that was finished, so that it has told all that happened before it; undefined before the first. */
export function lastFinishedRun(db: Db): Promise<{ id: string; history_mark: bigint } | undefined> {
  return db
    .selectFrom('runs')
    .select(['id', 'history_mark'])
    .where('finished_at', 'is not', null)
    .orderBy(latestRunFirst)
    .limit(1)
    .executeTakeFirst();
}

/** What may change an end: an acceptance, and what details or a list say. */
const moving = eventList(
  'accepted',
  ...provingSources.flatMap((source) => witnessStatuses.map((status) => `${source} says ${status}` as const)),
);

/**
 * The next ends that changed since the run `last` began and that neither it nor this run has told, in the order of history.
 * Left out: a return, which is told as one; what changed back; and what a person has decided again since.
 */
export async function overturnedAfter(
  db: Db,
  { run, last }: { run: string; last: { id: string; history_mark: bigint } | undefined },
  after: bigint,
  limit: number,
): Promise<Overturned[]> {
  const mark = last?.history_mark ?? 0n;
  const { rows } = await sql<OverturnedRow>`
    with moves as materialized (
      select id, payout_id, seq, at, event, from_state from history
      where id > ${after > mark ? after : mark} and from_state in ('success', 'failed', 'refused')
        and to_state <> from_state and not (from_state = 'success' and to_state = 'returned')
        and event in ${moving})
    select p.id, p.batch_id, p.reference, p.trx, p.transfer_id, p.amount, p.currency, p.state, m.id as entry,
      m.from_state as before, m.event as word, m.at as overturned_at, s.source as decided_by, s.at as decided_at, s.detail
    from moves m join payouts p on p.id = m.payout_id
    left join history s on s.payout_id = m.payout_id and s.seq = (select max(x.seq) from history x
      where x.payout_id = m.payout_id and x.seq < m.seq and x.event in ${settledEvents} and x.to_state = m.from_state)
    where p.state <> m.from_state and not (m.from_state = 'success' and p.state = 'returned')
      and not exists (select 1 from history l where l.payout_id = m.payout_id and l.seq > m.seq
        and l.event in ${settledEvents})
      and not exists (select 1 from discrepancies d where d.payout_id = m.payout_id and d.kind = 'status_conflict'
        and (d.last_run_id = ${run}
          or (d.last_run_id = ${last?.id ?? ''} and d.expected = m.from_state and coalesce(s.id, 0) <= ${mark})))
    order by m.id limit ${limit}`.execute(db);
  return rows.map(({ decided_by, decided_at, detail, ...row }) => ({
    ...row,
    decision:
      decided_by === null || decided_at === null
        ? null
        : { source: decided_by, at: decided_at, note: noteIn(detail) },
  }));
}

function noteIn(detail: string | null): string {
  const { message } = readDetail(detail ?? '{}');
  return typeof message === 'string' ? message : '';
}
