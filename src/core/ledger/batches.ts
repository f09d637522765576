import { sql } from 'kysely';
import { formatMinor } from '../domain/money.ts';
import { type BatchState, batchState, type CountedState, countByState } from '../domain/payout.ts';
import { overRows } from '../storage/bound-rows.ts';
import { textsOf } from '../storage/bulk.ts';
import { countRows, hasRow } from '../storage/counting.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Batch, Payout } from '../storage/tables/tables.ts';
import { tellBatches } from './batch-events.ts';
import { type PromisedFile, promiseFiles } from './file-tasks.ts';
import { areHolding, type HoldReason, holdReasonsOf, reasonColumns } from './hold-reasons.ts';
import { recordIntake } from './record.ts';
import { recounted, replacedSums } from './replaced.ts';
import { stateSums } from './state-sums.ts';

export type NewBatch = Pick<
  Batch,
  'id' | 'name' | 'file_name' | 'content_hash' | 'columns' | 'delimiter' | 'row_count' | 'created_at'
> &
  Pick<Batch, 'dropped_by'> &
  Partial<Pick<Batch, 'dropped_uid' | 'dropped_as' | 'dropped_as_uid'>>;

/** Inserts a batch in phase `loading`. An empty body digest means: undecided, may be deleted whole. */
export async function insertBatch(trx: Trx, batch: NewBatch): Promise<void> {
  await trx
    .insertInto('batches')
    .values({
      ...batch,
      phase: 'loading',
      told_state: 'loading',
      hold_reasons: '[]',
      body_digest: '',
      file_state: 'due',
    })
    .execute();
}

const loadedColumns = [
  'row_number',
  'reference',
  'reference_key',
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'narration',
  'sender_name',
  'type',
  'body',
  'cells',
  'pay_on',
  'payee_id',
  'name_letters',
  'payee_key',
] as const;

/** A payout from intake. It is `held`, without history, until its batch is decided. */
export type LoadedRow = Pick<Payout, (typeof loadedColumns)[number]>;

const insertRows = overRows(loadedColumns, 2, ({ rows, text, integer, shared }) => {
  const values = loadedColumns.map((column) =>
    column === 'row_number' || column === 'amount' ? integer(column) : text(column),
  );
  return sql`insert into payouts (batch_id, state, updated_at, ${sql.join(loadedColumns.map((column) => sql.ref(column)))})
    select ${shared(0)}, 'held', ${shared(1)}, ${sql.join(values)}
    from ${rows} where ${text('reference')} is not null`;
});

/** Adds rows to a loading batch. Throws the database's unique error when a reference exists (P22). */
export async function insertPayouts(
  trx: Trx,
  batch: string,
  at: string,
  rows: readonly LoadedRow[],
): Promise<void> {
  await insertRows(trx, [batch, at], rows);
}

/** Whether the batch is there and undecided: no other process has removed or decided it. */
export function isLoading(db: Db | Trx, id: string): Promise<boolean> {
  const batch = db.selectFrom('batches').where('id', '=', id);
  return hasRow(batch.where('phase', '=', 'loading').where('body_digest', '=', ''));
}

export async function countPayouts(trx: Trx, batch: string): Promise<number> {
  return countRows(trx.selectFrom('payouts').where('batch_id', '=', batch));
}

/** Where a reference was used before. */
type EarlierUse = Pick<Payout, 'batch_id' | 'state' | 'submitted_at'>;

/** Returns those of these folded references that the ledger has, with the payout of each (P22). */
export async function existingReferences(db: Db | Trx, keys: string[]): Promise<Map<string, EarlierUse>> {
  if (keys.length === 0) return new Map();
  const wanted = textsOf(keys);
  const rows = await db
    .selectFrom('payouts')
    .select(['reference_key', 'batch_id', 'state', 'submitted_at'])
    .where('reference_key', 'in', wanted)
    .execute();
  return new Map(rows.map((row) => [row.reference_key, row]));
}

/** True where a payout of the batch was sent, or may have been, whatever became of it. */
export function wasSent(db: Db | Trx, batch: string): Promise<boolean> {
  return hasRow(db.selectFrom('payouts').where('batch_id', '=', batch).where('submitted_at', 'is not', null));
}

/** Returns the batch that this content became, under whatever file name (P23). */
export function findByContentHash(db: Db | Trx, contentHash: string): Promise<Batch | undefined> {
  return db.selectFrom('batches').selectAll().where('content_hash', '=', contentHash).executeTakeFirst();
}

/**
 * Decides a loading batch: from now on it can only be finished, never deleted. Hold reasons and the digest of
 * the frozen bodies (P2) are set together with the promises of its files (P23, P34).
 */
export async function decideBatch(
  trx: Trx,
  decided: {
    id: string;
    at: string;
    holdReasons: HoldReason[];
    bodyDigest: string;
    files: readonly PromisedFile[];
  },
): Promise<void> {
  await trx
    .updateTable('batches')
    .set({ ...reasonColumns(decided.holdReasons), body_digest: decided.bodyDigest })
    .where('id', '=', decided.id)
    .execute();
  await promiseFiles(trx, { owner: decided.id, at: decided.at }, decided.files);
}

/**
 * Writes the first history entries of up to `limit` payouts of a decided batch; when none is left the batch
 * is `loaded`. `after`: the row that the previous call reached, so that no call scans finished rows. After a
 * crash it is 0 again.
 */
export async function finishSome(
  trx: Trx,
  batch: Batch,
  at: string,
  limit: number,
  after = 0n,
): Promise<{ done: boolean; after: bigint }> {
  const rows = await trx
    .selectFrom('payouts')
    .select(['id', 'row_number', 'approval_needed'])
    .where('batch_id', '=', batch.id)
    .where('row_number', '>=', after)
    .where('history_seq', '=', 0n)
    .orderBy('row_number')
    .limit(limit)
    .execute();
  const { reasons } = await holdReasonsOf(trx, batch.id);
  await recordIntake(
    trx,
    at,
    rows.map((row) => ({ id: row.id, state: areHolding(reasons, row) ? 'held' : 'ready' })),
    { batch: batch.id, bodies: batch.body_digest },
  );
  const done = rows.length < limit;
  if (done) {
    const loaded = { phase: 'loaded', told_state: 'loading' } as const;
    await trx.updateTable('batches').set(loaded).where('id', '=', batch.id).execute();
    await tellBatches(trx, at, [batch.id]);
  }
  return { done, after: rows.at(-1)?.row_number ?? after };
}

/** Returns the batches in phase `loading`: in progress, or left by a crash. */
export function loadingBatches(db: Db | Trx): Promise<Batch[]> {
  return db.selectFrom('batches').selectAll().where('phase', '=', 'loading').execute();
}

export function getBatch(db: Db | Trx, id: string): Promise<Batch | undefined> {
  return db.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the batches whose name begins with `prefix`, the newest first. */
export function batchesBeginning(db: Db | Trx, prefix: string, limit: number): Promise<Batch[]> {
  return db
    .selectFrom('batches')
    .selectAll()
    .where(sql<boolean>`substr(id, 1, ${prefix.length}) = ${prefix}`)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The payouts of a batch in one state and currency. */
export type BatchSum = { state: CountedState; currency: string; count: number; minor: bigint };

export type BatchCounts = {
  batch: Batch;
  state: BatchState;
  counts: Partial<Record<CountedState, number>>;
  /** Payouts and minor units per currency and payout state, with successors that pay a row again. */
  sums: BatchSum[];
  /** Amounts of the file's rows per currency, as decimals with the currency's digits. */
  totals: Record<string, string>;
  /** Amounts per currency and payout state, with those of successors that pay a row again. */
  totalsByState: Record<string, Partial<Record<CountedState, string>>>;
};

/** Returns counts and sums of batches, from the kept totals. Without `ids`: of every batch. */
export async function batchCounts(db: Db | Trx, ids?: string[]): Promise<BatchCounts[]> {
  let batches = db.selectFrom('batches').selectAll();
  if (ids) batches = batches.where('id', 'in', textsOf(ids));
  const all = await batches.orderBy('created_at').orderBy('id').execute();
  const rows = await stateSums(db, ids);
  const states = Map.groupBy(rows, (group) => group.batch_id);
  const own = ids && sql`p.batch_id in ${textsOf(ids)}`;
  const grouped = Map.groupBy(recounted(rows, await replacedSums(db, own)), (group) => group.batch_id);
  const again = Map.groupBy(await paidInOwnBatch(db, ids), (group) => group.batch_id);
  return all.map((batch) => {
    const counts: BatchCounts['counts'] = {};
    const rowSums: Record<string, bigint> = {};
    const totalsByState: BatchCounts['totalsByState'] = {};
    for (const { state, currency, n, amount } of grouped.get(batch.id) ?? []) {
      counts[state] = (counts[state] ?? 0) + Number(n);
      rowSums[currency] = (rowSums[currency] ?? 0n) + amount;
      totalsByState[currency] = { ...totalsByState[currency], [state]: formatMinor(amount, currency) };
    }
    for (const { currency, sum } of again.get(batch.id) ?? [])
      rowSums[currency] = (rowSums[currency] ?? 0n) - sum;
    const totals = Object.fromEntries(
      Object.entries(rowSums).map(([currency, sum]) => [currency, formatMinor(sum, currency)]),
    );
    const sums = (grouped.get(batch.id) ?? []).map(({ state, currency, n, amount }) => {
      return { state, currency, count: Number(n), minor: amount };
    });
    return {
      batch,
      state: batchState(batch.phase, countByState(states.get(batch.id) ?? [])),
      counts,
      sums,
      totals,
      totalsByState,
    };
  });
}

/**
 * Returns the sums of successors in the batch of their original: they are not rows of its file (P20). Few payouts are
 * successors: the cross join and `coalesce` keep SQLite on their index.
 */
async function paidInOwnBatch(
  db: Db | Trx,
  ids?: string[],
): Promise<{ batch_id: string; currency: string; sum: bigint }[]> {
  const among = ids ? sql`and s.batch_id in ${textsOf(ids)}` : sql``;
  const { rows } = await sql<{ batch_id: string; currency: string; sum: bigint }>`
    select coalesce(s.batch_id, '') as batch_id, s.currency, sum(s.amount) as sum from payouts s cross join payouts p
    where s.successor_of is not null and p.id = s.successor_of and p.batch_id = s.batch_id ${among}
    group by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, sum: BigInt(row.sum) }));
}

/** The names of batches, the newest first; those behind `after` where it is given. */
export async function batchesAfter(db: Db, limit: number, after: string | undefined): Promise<string[]> {
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(created_at < (select b.created_at from batches b where b.id = ${after})
          or (created_at = (select b.created_at from batches b where b.id = ${after}) and id > ${after}))`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
