import { sql } from 'kysely';
import { foldReference, isReference } from '../../core/domain/ids.ts';
import { openStates } from '../../core/domain/payout.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';

const dayMs = 24 * 60 * 60_000;
/** The newest webhooks of strangers are kept whole: so many, and for so long. */
const keptWhole = { rows: 10_000, days: 35 };
/** A webhook may bear a time this long before the send that it reports: clocks differ. */
const skewMs = dayMs;
const rowsAtOnce = 1000;

/**
 * Deletes old webhooks that matched no payout, so that strangers cannot fill the ledger. Each leaves its reference
 * behind, where that could ever be ours: a payout under it must first be asked about. Deleted ones stay counted. None is
 * deleted that came since the oldest unfinished payout was sent, since it may be about that one under another name.
 */
export async function pruneUnmatched(
  ledger: Ledger,
  nowMs: number,
  kept: { rows: number; days: number } = keptWhole,
): Promise<number> {
  const before = await cutFor(ledger.db, nowMs - kept.days * dayMs);
  const newest = await newestKept(ledger.db, kept.rows);
  if (newest === undefined) return 0;
  for (let deleted = 0; ; ) {
    const n = await ledger.write((trx) => pruneSome(trx, { before, newest }));
    deleted += n;
    if (n < rowsAtOnce) return deleted;
  }
}

async function cutFor(db: Db, agedMs: number): Promise<string> {
  const row = await db
    .selectFrom('payouts')
    .select((on) => on.fn.min<string | null>('submitted_at').as('first'))
    .where('state', 'in', openStates)
    .executeTakeFirst();
  const sentMs = row?.first ? Date.parse(row.first) - skewMs : agedMs;
  return new Date(Math.min(agedMs, sentMs)).toISOString();
}

/** The condition of the index on unmatched webhooks, word for word. */
const unmatched = sql<boolean>`payout_id is null and applied_at is not null and kind = 'payout'`;

/**
 * The ids of the unmatched webhooks, the newest first. The plus sign keeps SQLite on their index: in the order of the ids
 * it would read every webhook.
 */
export function unmatchedIds(db: Db) {
  return db.selectFrom('webhooks').select('id').where(unmatched).orderBy(sql`+id`, 'desc');
}

/** Webhooks with this id or a later one are kept, however old; undefined when there are too few to prune any. */
async function newestKept(db: Db, rows: number): Promise<bigint | undefined> {
  const row = await unmatchedIds(db)
    .limit(1)
    .offset(rows - 1)
    .executeTakeFirst();
  return row?.id;
}

async function pruneSome(trx: Trx, { before, newest }: { before: string; newest: bigint }): Promise<number> {
  const rows = await trx
    .selectFrom('webhooks')
    .select(['id', 'reference', 'deliveries'])
    .where(unmatched)
    .where('id', '<', newest)
    .where('last_received_at', '<', before)
    .orderBy('id')
    .limit(rowsAtOnce)
    .execute();
  if (rows.length === 0) return 0;
  const lastOf = new Map(rows.map(({ id, reference }) => [foldReference(reference ?? ''), id]));
  const references = [...lastOf]
    .filter(([key]) => isReference(key))
    .map(([reference_key, id]) => ({ reference_key, id }));
  if (references.length > 0)
    await trx
      .insertInto('unmatched_references')
      .values(references)
      .onConflict((conflict) => conflict.column('reference_key').doUpdateSet({ id: sql`excluded.id` }))
      .execute();
  await trx
    .deleteFrom('webhooks')
    .where('id', 'in', idList(rows.map(({ id }) => id)))
    .execute();
  await addTally(trx, tallies.rows, BigInt(rows.length));
  await addTally(
    trx,
    tallies.deliveries,
    rows.reduce((sum, { deliveries }) => sum + deliveries, 0n),
  );
  return rows.length;
}

const tallies = { rows: 'pruned_webhooks', deliveries: 'pruned_deliveries' };

async function addTally(trx: Trx, name: string, n: bigint): Promise<void> {
  await trx
    .insertInto('tallies')
    .values({ name, n })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ n: sql`tallies.n + excluded.n` }))
    .execute();
}

/** How many webhooks of strangers were deleted, and their deliveries. */
export async function prunedCounts(db: Db): Promise<{ webhooks: number; deliveries: number }> {
  const rows = await db
    .selectFrom('tallies')
    .select(['name', 'n'])
    .where('name', 'in', Object.values(tallies))
    .execute();
  const count = (name: string): number => Number(rows.find((row) => row.name === name)?.n ?? 0n);
  return { webhooks: count(tallies.rows), deliveries: count(tallies.deliveries) };
}
