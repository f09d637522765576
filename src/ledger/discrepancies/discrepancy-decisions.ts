import { sql } from 'kysely';
import type { Db, Trx } from '../open.ts';
import type { Discrepancy } from '../tables/tables.ts';
import { type DiscrepancyFilter, filtered } from './discrepancies.ts';

export type Verdict = 'acknowledge' | 'resolve';

/** What a person says of a discrepancy, and who; `at` ISO UTC. An acknowledgement may go without a note. */
export type Word = { verdict: Verdict; note: string; person: string; at: string };

/** The states in which a word changes anything: said again, it does not. */
export const openTo: Record<Verdict, Discrepancy['state'][]> = {
  acknowledge: ['open'],
  resolve: ['open', 'acknowledged'],
};

/** Writes a person's word on everything the filter finds that is open to it, set-based. Returns how many it changed. */
export async function decide(trx: Trx, filter: DiscrepancyFilter, word: Word): Promise<number> {
  const { verdict, note, person, at } = word;
  const condition = filtered({ ...filter, states: openTo[verdict] });
  const event = verdict === 'resolve' ? ('resolved' as const) : ('acknowledged' as const);
  await trx
    .insertInto('discrepancy_events')
    .columns(['discrepancy_id', 'at', 'event', 'source', 'note'])
    .expression(
      trx
        .selectFrom('discrepancies')
        .select([
          'id',
          sql<string>`${at}`.as('at'),
          sql<typeof event>`${event}`.as('event'),
          sql<string>`${`person:${person}`}`.as('source'),
          sql<string>`${note}`.as('note'),
        ])
        .where(condition)
        .orderBy('first_seen_at')
        .orderBy('id'),
    )
    .execute();
  const ended = verdict === 'resolve' ? { resolved_at: at, resolved_by: 'person' as const } : {};
  const said = note === '' ? {} : { note };
  const { numUpdatedRows } = await trx
    .updateTable('discrepancies')
    .set({ state: event, ...said, ...ended })
    .where(condition)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Those of the ids that the mode has. */
export function findByIds(
  db: Db | Trx,
  mode: Discrepancy['mode'],
  ids: readonly string[],
): Promise<Discrepancy[]> {
  return db
    .selectFrom('discrepancies')
    .selectAll()
    .where(filtered({ mode, ids, states: ['open', 'acknowledged', 'resolved'] }))
    .execute();
}
