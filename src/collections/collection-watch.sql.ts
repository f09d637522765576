import { sql } from 'kysely';
import type { CollectionState } from '../domain/collection.ts';
import { later } from '../ledger/projection.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Collection } from '../storage/tables/collection-tables.ts';

/** Rows of a file that is still being taken in may be thrown away again: nothing is asked about them yet. */
const taken = sql<boolean>`(collections.file_id is null or exists (select 1 from collection_files f
  where f.id = collections.file_id and f.phase = 'loaded'))`;

/** Collections to verify by `at`, those due for longest first. */
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

/** No collection that is asked about again waits for longer. */
const longestWaitMs = 24 * 3_600_000;

/** Brings what a clock which was ahead put off to the longest wait of its ladder (P33). */
export async function capCollectionAsks(trx: Trx, at: string): Promise<void> {
  const latest = later(at, longestWaitMs);
  await trx.updateTable('collections').set({ ask_at: latest }).where('ask_at', '>', latest).execute();
}

/** Which collections a run is about; times are ISO UTC. */
export type CollectionWatch =
  /** Promised before then and not arrived, or told before then and not shown by the verify endpoint. */
  | { kind: 'overdue'; before: string }
  | { kind: 'conflict' }
  /** Promised, arrived by then, and no webhook was heard. */
  | { kind: 'unheard'; receivedBy: string };

/** The next collections of the watch, by id. */
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
 * Unconfirmed collections that a run asks about whatever their ladder says: overdue or in conflict, not asked since the
 * run began, and promised or heard since `watchedSince`. Those whose last answer is the oldest come first.
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

/** Collections by state. */
export async function collectionCounts(db: Db): Promise<Partial<Record<CollectionState, number>>> {
  const rows = await db
    .selectFrom('collections')
    .select(['state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .groupBy('state')
    .orderBy('state')
    .execute();
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]));
}
