import { createHash } from 'node:crypto';
import { type ExpressionBuilder, sql } from 'kysely';
import { kindsWhere } from '../../core/domain/discrepancy-kinds.ts';
import { discrepancyStates } from '../../core/domain/discrepancy-life.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Discrepancy, Tables } from '../../core/storage/tables/tables.ts';
import { type DiscrepancyFilter, filtered } from './discrepancies.sql.ts';
import { tellTurns } from './discrepancy-events.sql.ts';

export type DiscrepancyDecision = 'acknowledge' | 'resolve';

/** A person's decision about a discrepancy; `at` is ISO UTC. An acknowledgement needs no note. */
export type DecidedDiscrepancy = { verdict: DiscrepancyDecision; note: string; person: string; at: string };

/** The states in which each verdict changes anything; the same verdict a second time changes nothing. */
export const openTo: Record<DiscrepancyDecision, Discrepancy['state'][]> = {
  acknowledge: ['open'],
  resolve: ['open', 'acknowledged'],
};

/** The state that each verdict gives a discrepancy. */
export const stateAfter = { acknowledge: 'acknowledged', resolve: 'resolved' } as const;

/**
 * Writes a person's decision on each discrepancy that the filter finds and that is open to it. Returns how many
 * changed.
 */
export function decide(trx: Trx, filter: DiscrepancyFilter, word: DecidedDiscrepancy): Promise<number> {
  return write(trx, filtered({ ...filter, states: openTo[word.verdict] }), word, 0n);
}

/**
 * Writes the decision of a person who closes a payout on all that is open about it (P32). It holds while the payout stays
 * closed. Where other money is in question too, that is only acknowledged.
 */
export async function closeWithPayout(
  trx: Trx,
  payout: { id: bigint },
  word: Omit<DecidedDiscrepancy, 'verdict'>,
): Promise<void> {
  const about = (verdict: DiscrepancyDecision, ends: 'resolved' | 'acknowledged') => {
    const kinds = kindsWhere(({ onClose }) => onClose === ends);
    const open = filtered({ states: openTo[verdict] });
    const condition = (eb: ExpressionBuilder<Tables, 'discrepancies'>) =>
      eb.and([
        open(eb),
        eb('discrepancies.payout_id', '=', payout.id),
        eb('discrepancies.kind', 'in', kinds),
      ]);
    return write(trx, condition, { ...word, verdict }, 1n);
  };
  await about('resolve', 'resolved');
  await about('acknowledge', 'acknowledged');
}

type Condition = ReturnType<typeof filtered>;

async function write(
  trx: Trx,
  condition: Condition,
  { verdict, note, person, at }: DecidedDiscrepancy,
  closed_with_payout: bigint,
): Promise<number> {
  const event = stateAfter[verdict];
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
  const changed = await trx
    .updateTable('discrepancies')
    .set({ state: event, closed_with_payout, ...said, ...ended })
    .where(condition)
    .returning('id')
    .execute();
  await tellTurns(
    trx,
    changed.map(({ id }) => ({ id, at, event })),
  );
  return changed.length;
}

/** Tells what a person saw of a discrepancy from what it shows later: a decision holds for exactly that. */
export function discrepancyMark({ expected, actual }: Pick<Discrepancy, 'expected' | 'actual'>): string {
  return createHash('sha256')
    .update(JSON.stringify([expected, actual]))
    .digest('hex')
    .slice(0, 16);
}

/** Those of the ids that the ledger has. */
export function findByIds(db: Db | Trx, ids: readonly string[]): Promise<Discrepancy[]> {
  return db
    .selectFrom('discrepancies')
    .selectAll()
    .where(filtered({ ids, states: discrepancyStates }))
    .execute();
}

/** The payouts that a filter's discrepancies are about, by id. */
export async function payoutsOfFiltered(db: Db, filter: DiscrepancyFilter): Promise<bigint[]> {
  const rows = await db
    .selectFrom('discrepancies')
    .select('payout_id')
    .distinct()
    .where(filtered(filter))
    .where('payout_id', 'is not', null)
    .orderBy('payout_id')
    .execute();
  return rows.flatMap(({ payout_id: id }) => id ?? []);
}
