import { sql } from 'kysely';
import { inParts, keyset } from '../storage/keyset.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';
import type { Batch, Payout, Run } from '../storage/tables/tables.ts';

/** A keyset page: small enough to stay flat in memory, large enough to cost little per row. */
const pageSize = 1000;
/** How many rows one quick delete removes. */
const clearedAtOnce = 5000;
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

/** The part of a payout in a batch's results. */
export type Outcome = Pick<Payout, (typeof outcomeColumns)[number]>;
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
] as const;

/** Yields the outcomes of a batch's payouts, in file order, a page at a time. */
export function batchOutcomes(db: Db, batch: string): AsyncGenerator<Outcome[]> {
  return keyset(filePage, (last) => {
    const all = db.selectFrom('payouts').select(outcomeColumns).where('batch_id', '=', batch);
    // A successor has the row of the payout that it pays again, and comes after it.
    const rest = last && all.where(sql<boolean>`(row_number, id) > (${last.row_number}, ${last.id})`);
    return (rest ?? all).orderBy('row_number').orderBy('id').limit(filePage).execute();
  });
}

/**
 * Records that the results were written as of `written`. If another process also recorded a write, nobody knows whose
 * file is newer: the batch is due again.
 */
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

/** Runs whose reports are frozen, newest first, a page at a time. The statement is frozen last and so marks the whole. */
export function frozenRuns(db: Db): AsyncGenerator<Run[]> {
  const isFrozen = sql<boolean>`exists (
    select 1 from run_rows r where r.run_id = runs.id and r.sheet = 'statement')`;
  return keyset(pageSize, (last) => {
    const all = db.selectFrom('runs').selectAll().where(isFrozen);
    const rest = last && all.where(sql<boolean>`(started_at, id) < (${last.started_at}, ${last.id})`);
    return (rest ?? all).orderBy('started_at', 'desc').orderBy('id', 'desc').limit(pageSize).execute();
  });
}

/** The run, or undefined when the ledger has none of that name. */
export function findRun(db: Db, run: string): Promise<Run | undefined> {
  return db.selectFrom('runs').selectAll().where('id', '=', run).executeTakeFirst();
}

/** Deletes a run's frozen rows, piece by piece, so that an interrupted freeze can start again. */
export async function clearRunRows(ledger: Ledger, run: string): Promise<void> {
  const of = ledger.db.selectFrom('run_rows').select(['sheet', 'position']).where('run_id', '=', run);
  // First the sheet that marks the run as frozen: a partly cleared run is not frozen.
  await ledger.write((trx) =>
    trx.deleteFrom('run_rows').where('run_id', '=', run).where('sheet', '=', 'statement').execute(),
  );
  for (;;) {
    const piece = sql<boolean>`(sheet, position) in (${of.limit(clearedAtOnce)})`;
    const { numDeletedRows } = await ledger.write((trx) =>
      trx.deleteFrom('run_rows').where('run_id', '=', run).where(piece).executeTakeFirst(),
    );
    if (numDeletedRows < BigInt(clearedAtOnce)) return;
  }
}

/** A row of a sheet with its position. Rows are read in position order, and gaps are allowed. The header is at 0. */
export type PlacedRow = { position: bigint; cells: string[] };

/** Rows that follow each other, the first of them at `position`. */
export function placedFrom(position: number, rows: string[][]): PlacedRow[] {
  return rows.map((cells, index) => ({ position: BigInt(position + index), cells }));
}

/** Adds rows to a sheet of a run. */
export async function addRunRows(trx: Trx, run: string, sheet: string, rows: PlacedRow[]): Promise<void> {
  for (const some of inParts(rows, pageSize)) {
    const values = some.map(({ position, cells }) => {
      return { run_id: run, sheet, position, cells: JSON.stringify(cells) };
    });
    await trx.insertInto('run_rows').values(values).execute();
  }
}

/** True when the run's frozen sheet has more rows than `beyond`, including its header. */
export async function hasRunRows(db: Db, run: string, sheet: string, beyond = 0): Promise<boolean> {
  const row = await db
    .selectFrom('run_rows')
    .select('position')
    .where('run_id', '=', run)
    .where('sheet', '=', sheet)
    .orderBy('position')
    .limit(1)
    .offset(beyond)
    .executeTakeFirst();
  return row !== undefined;
}

/** The frozen rows of a sheet in order, each a JSON array of texts, a page at a time. */
export async function* runRows(db: Db, run: string, sheet: string): AsyncGenerator<string[]> {
  const pages = keyset<{ position: bigint; cells: string }>(filePage, (last) =>
    db
      .selectFrom('run_rows')
      .select(['position', 'cells'])
      .where('run_id', '=', run)
      .where('sheet', '=', sheet)
      .where('position', '>', last?.position ?? -1n)
      .orderBy('position')
      .limit(filePage)
      .execute(),
  );
  for await (const page of pages) yield page.map(({ cells }) => cells);
}
