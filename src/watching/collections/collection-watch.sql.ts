import { sql } from 'kysely';
import type { CollectionState } from '../../core/domain/collection.ts';
import { later } from '../../core/domain/wait.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Collection } from '../../core/storage/tables/collection-tables.ts';

/** True for collections to ask about. A file still in intake may be discarded, so its rows are left out. */
const taken = sql<boolean>`(collections.file_id is null or exists (select 1 from collection_files f
  where f.id = collections.file_id and f.phase = 'loaded'))`;

/** Collections to verify by `at`, the longest overdue first. */
export async function dueCollections(
  db: Db,
  { at, limit }: { at: string; limit: number },
): Promise<bigint[]> {
  const rows = await db
    .selectFrom('collections')
    .select('id')
    .where('ask_at', '<=', at)
    .where(taken)
    .orderBy('ask_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** The longest wait before a collection is asked about again. */
const longestWaitMs = 24 * 3_600_000;

/** Shortens waits that a clock which ran ahead made too long to the ladder's longest wait (P33). */
export async function capCollectionAsks(trx: Trx, at: string): Promise<void> {
  const latest = later(at, longestWaitMs);
  await trx.updateTable('collections').set({ ask_at: latest }).where('ask_at', '>', latest).execute();
}

/** Which collections a run examines; times are ISO UTC. */
export type CollectionWatch =
  /** Expected before then and not received, or announced by webhook before then and not confirmed by the verify endpoint. */
  | { kind: 'overdue'; before: string }
  | { kind: 'conflict' }
  /** Expected, received by then, and without a webhook. */
  | { kind: 'unheard'; receivedBy: string };

export function collectionsAfter(
  db: Db,
  watch: CollectionWatch,
  { after, limit }: { after: bigint; limit: number },
): Promise<Collection[]> {
  const base = db
    .selectFrom('collections')
    .selectAll()
    .where('id', '>', after)
    .where(taken)
    .orderBy('id')
    .limit(limit);
  if (watch.kind === 'conflict') return base.where('state', '=', 'conflict').execute();
  if (watch.kind === 'unheard')
    return base
      .where('expected_at', 'is not', null)
      .where('heard_at', 'is', null)
      .where('received_at', '<=', watch.receivedBy)
      .execute();
  return base
    .where((eb) =>
      eb.or([
        eb.and([eb('state', 'in', ['expected', 'failed']), eb('expected_at', '<=', watch.before)]),
        eb.and([
          eb('state', '=', 'heard'),
          eb(eb.fn.coalesce('expected_at', 'heard_at'), '<=', watch.before),
        ]),
      ]),
    )
    .execute();
}

/**
 * Unconfirmed collections that a run asks about, whatever their ladder says. They are overdue or in conflict, not asked
 * about since the run began, and expected or announced since `watchedSince`. Those with the oldest answer come first.
 */
export async function collectionsToVerify(
  db: Db,
  ask: { before: string; askedBefore: string; watchedSince: string; limit: number },
): Promise<bigint[]> {
  const since = sql<string>`coalesce(expected_at, heard_at, updated_at)`;
  const rows = await db
    .selectFrom('collections')
    .select('id')
    .where('state', 'in', ['expected', 'heard', 'failed', 'conflict'])
    .where(taken)
    .where((eb) => eb.or([eb(since, '<=', ask.before), eb('state', '=', 'conflict')]))
    .where(sql<boolean>`${since} >= ${ask.watchedSince}`)
    .where(sql<boolean>`coalesce(answered_at, '') < ${ask.askedBefore}`)
    .orderBy(sql`coalesce(answered_at, '')`)
    .orderBy('id')
    .limit(ask.limit)
    .execute();
  return rows.map((row) => row.id);
}

export async function collectionCounts(db: Db): Promise<Partial<Record<CollectionState, number>>> {
  const rows = await db
    .selectFrom('collections')
    .select(['state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .groupBy('state')
    .orderBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}
