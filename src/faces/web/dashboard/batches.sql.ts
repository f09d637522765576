import { sql } from 'kysely';
import {
  type BatchState,
  batchState,
  type CountedState,
  countByState,
  openStates,
  type PayoutState,
} from '../../../core/domain/payout.ts';
import { batchesAfter } from '../../../core/ledger/batches.ts';
import { readReasons } from '../../../core/ledger/hold-reasons.ts';
import { recounted, replacedSums } from '../../../core/ledger/replaced.ts';
import { textsOf } from '../../../core/storage/bulk.ts';
import { perDialect } from '../../../core/storage/dialect.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import type { Batch } from '../../../core/storage/tables/tables.ts';

type Sum = { count: number; minor: bigint };

/** A batch with its kept figures: nothing here counts payouts. */
export type BatchLook = {
  batch: Batch;
  state: BatchState;
  counts: Partial<Record<CountedState, number>>;
  /** By currency and state, in minor units. */
  sums: Map<string, Partial<Record<CountedState, Sum>>>;
};

/** Why the service has not answered what is asked before payment, where nothing else keeps the whole batch (P32); else null. */
export function answerAwaited({ batch, counts }: BatchLook): string | null {
  const isAlone = batch.phase === 'loaded' && batch.held === 0n && (counts.ready ?? 0) > 0;
  return isAlone && (batch.precheck === 'due' || batch.precheck === 'named') ? batch.precheck_wait : null;
}

/** The batches that were taken in since an instant, or that are not finished; the newest first, and how many more. */
export async function activeBatches(
  db: Db,
  since: string,
  limit: number,
): Promise<{ looks: BatchLook[]; more: number }> {
  const moving = sql.join(openStates.map((state) => sql.lit(state)));
  const { rows } = await sql<{ id: string }>`select b.id from batches b
    where b.created_at >= ${since} or b.phase = 'loading' or b.id in
      (select t.batch_id from payout_totals t where t.n > 0 and t.state in (${moving}))
    order by b.created_at desc, b.id`.execute(db);
  const ids = rows.slice(0, limit).map(({ id }) => id);
  return { looks: await looksOf(db, ids), more: rows.length - ids.length };
}

/** A batch that is held waits for an approval where one is missing, whatever else holds it. */
export function standOf({ state, batch }: BatchLook): BatchState | 'approval' {
  const reasons = state === 'held' ? readReasons(batch.hold_reasons) : [];
  return reasons.some(({ kind }) => kind === 'approval') ? 'approval' : state;
}

export async function countBatches(db: Db): Promise<number> {
  const { n } = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.countAll<bigint>().as('n'))
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** So many batches are read to fill a page. */
const mostRead = 2000;

/** Batches that stand so, or all, the newest first, behind `after`. `next`: the batch behind which more may follow. */
export async function batchesThatStand(
  db: Db,
  only: ReturnType<typeof standOf> | null,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<{ looks: BatchLook[]; next: string | null }> {
  const looks: BatchLook[] = [];
  let last = after;
  for (let read = 0; read < mostRead; read += limit) {
    const ids = await batchesAfter(db, limit + 1, last);
    for (const look of await looksOf(db, ids.slice(0, limit))) {
      if (looks.length === limit) return { looks, next: last ?? null };
      last = look.batch.id;
      if (only === null || standOf(look) === only) looks.push(look);
    }
    if (ids.length <= limit) return { looks, next: null };
  }
  return { looks, next: last ?? null };
}

/** One batch, or undefined. */
export async function findBatchLook(db: Db, id: string): Promise<BatchLook | undefined> {
  return (await looksOf(db, [id]))[0];
}

async function looksOf(db: Db, ids: readonly string[]): Promise<BatchLook[]> {
  if (ids.length === 0) return [];
  const wanted = textsOf(ids);
  const batches = await db.selectFrom('batches').selectAll().where('id', 'in', wanted).execute();
  const totals = await db
    .selectFrom('payout_totals')
    .selectAll()
    .where('batch_id', 'in', textsOf(ids))
    .where('n', '>', 0n)
    .orderBy('currency')
    .orderBy('state')
    .execute();
  const states = Map.groupBy(totals, ({ batch_id }) => batch_id);
  const replaced = await replacedSums(db, sql`p.batch_id in ${textsOf(ids)}`);
  const byBatch = Map.groupBy(recounted(totals, replaced), ({ batch_id }) => batch_id);
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  return ids.flatMap((id) => {
    const batch = byId.get(id);
    if (!batch) return [];
    const counts: BatchLook['counts'] = {};
    const sums: BatchLook['sums'] = new Map();
    for (const { currency, state, n, amount } of byBatch.get(id) ?? []) {
      counts[state] = (counts[state] ?? 0) + Number(n);
      sums.set(currency, { ...sums.get(currency), [state]: { count: Number(n), minor: amount } });
    }
    return [{ batch, state: batchState(batch.phase, countByState(states.get(id) ?? [])), counts, sums }];
  });
}

const rowColumns = [
  'reference',
  'row_number',
  'currency',
  'amount',
  'state',
  'message',
  'batch_id',
  'submitted_at',
  'withheld_by',
  'account_number',
  'account_name',
  'bank_code',
] as const;

/** Payouts of a batch that a person reads: those in a state, in the order of the file, from `offset` on. */
export function payoutsIn(
  db: Db,
  batch: string,
  state: PayoutState | null,
  { limit, offset }: { limit: number; offset: number },
) {
  return db
    .selectFrom('payouts')
    .select(rowColumns)
    .where('batch_id', '=', batch)
    .$if(state !== null, (query) => query.where('state', '=', state ?? 'held'))
    .orderBy('row_number')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
}

/** The largest payouts of a batch that may still go, in minor units, whatever the currency. */
export function largestIn(db: Db, batch: string, limit: number) {
  return db
    .selectFrom('payouts')
    .select(rowColumns)
    .where('batch_id', '=', batch)
    .where('state', 'in', ['ready', 'held'])
    .orderBy('amount', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The reference of a payout as the ledger spells it, whatever its case; undefined for none. */
export async function findReference(db: Db, folded: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('payouts')
    .select('reference')
    .where('reference_key', '=', folded)
    .executeTakeFirst();
  return row?.reference;
}

/** So many batches are offered for a part of a name. */
const mostMeant = 20;

/** The batches that a person may mean by a part of a name, the newest first; the one of this whole name alone. */
export async function batchesMeant(db: Db, part: string): Promise<string[]> {
  const letters = part.toLowerCase();
  const place = perDialect(sql`instr(lower(id), ${letters})`, sql`strpos(lower(id), ${letters})`);
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .where(sql<boolean>`${place} > 0`)
    .orderBy(sql`case when id = ${part} then 0 else 1 end`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(mostMeant)
    .execute();
  const ids = rows.map(({ id }) => id);
  return ids[0] === part ? [part] : ids;
}

/** Batches whose name begins so; two are enough to know that it is not one. */
export async function batchesNamed(db: Db, prefix: string): Promise<string[]> {
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .where(sql<boolean>`substr(id, 1, ${prefix.length}) = ${prefix}`)
    .limit(2)
    .execute();
  return rows.map(({ id }) => id);
}
