import { sql } from 'kysely';
import { idList } from '../core/storage/bulk.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Batch, Payout, Run } from '../core/storage/tables/tables.ts';
import { isAddedRow } from './column-totals.sql.ts';

/** A keyset page: small enough to stay flat in memory, large enough to cost little per row. */
const pageSize = 1000;
/** A page of rows that become files: small, so that their text leaves memory soon. */
const filePage = 200;

/** The batch, or undefined when the ledger has none of that name. */
export function findBatch(db: Db, batch: string): Promise<Batch | undefined> {
  return db.selectFrom('batches').selectAll().where('id', '=', batch).executeTakeFirst();
}

/** Batches, fully loaded, whose results changed since they were last written. */
export async function batchesDue(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('batches')
    .select('id')
    .where('phase', '!=', 'loading')
    .whereRef('version', '!=', 'reported_version')
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** `added`: 1 where it pays another row of the same batch again, and is no row of the file. */
export type PayoutOutcome = Pick<Payout, (typeof outcomeColumns)[number]> & { added: bigint };
const outcomeColumns = [
  'id',
  'row_number',
  'cells',
  'currency',
  'amount',
  'state',
  'transfer_id',
  'trx',
  'fee',
  'message',
  'submitted_at',
  'settled_at',
  'evidence',
  'reference',
  'batch_id',
  'withheld_by',
  'bank_code',
] as const;

/** Yields the outcomes of a batch's payouts, in file order, a page at a time. */
export function batchOutcomes(db: Db, batch: string): AsyncGenerator<PayoutOutcome[]> {
  return keyset(filePage, (last) => {
    const all = db
      .selectFrom('payouts')
      .select(outcomeColumns)
      .select(isAddedRow().as('added'))
      .where('batch_id', '=', batch);
    // A successor has the row of the payout that it pays again, and comes after it.
    const rest = last && all.where(sql<boolean>`(row_number, id) > (${last.row_number}, ${last.id})`);
    return (rest ?? all).orderBy('row_number').orderBy('id').limit(filePage).execute();
  });
}

/** The same outcomes with their file's cells, which the archive `db` has. */
export async function withCells(db: Db, page: readonly PayoutOutcome[]): Promise<PayoutOutcome[]> {
  const among = idList(page.map(({ id }) => id));
  const rows = await db.selectFrom('payouts').select(['id', 'cells']).where('id', 'in', among).execute();
  const cellsOf = new Map(rows.map(({ id, cells }) => [id, cells]));
  return page.map((one) => ({ ...one, cells: cellsOf.get(one.id) ?? one.cells }));
}

/** Records that the results were written. If another process did too, nobody knows whose file is newer: due again. */
export async function markReported(db: Db, batch: Batch, written: bigint): Promise<void> {
  await db
    .updateTable('batches')
    .set({
      reported_version: sql<bigint>`case when reported_version = ${batch.reported_version} then ${written} else -1 end`,
    })
    .where('id', '=', batch.id)
    .execute();
}

/** Batches whose results were written, newest first, a page at a time. */
export function reportedBatches(db: Db): AsyncGenerator<Batch[]> {
  return keyset(pageSize, (last) => {
    const all = db.selectFrom('batches').selectAll().where('reported_version', '>=', 0n);
    const rest = last && all.where(sql<boolean>`(created_at, id) < (${last.created_at}, ${last.id})`);
    return (rest ?? all).orderBy('created_at', 'desc').orderBy('id', 'desc').limit(pageSize).execute();
  });
}

/** Runs whose reports are frozen, newest first, a page at a time. */
export function frozenRuns(db: Db): AsyncGenerator<Run[]> {
  return keyset(pageSize, (last) => {
    const all = db.selectFrom('runs').selectAll().where('frozen', 'is not', null);
    const rest = last && all.where(sql<boolean>`(started_at, id) < (${last.started_at}, ${last.id})`);
    return (rest ?? all).orderBy('started_at', 'desc').orderBy('id', 'desc').limit(pageSize).execute();
  });
}

/** The run, or undefined when the ledger has none of that name. */
export function findRun(db: Db, run: string): Promise<Run | undefined> {
  return db.selectFrom('runs').selectAll().where('id', '=', run).executeTakeFirst();
}
