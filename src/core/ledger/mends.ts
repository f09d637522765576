import type { Db, Trx } from '../storage/ledger.ts';

/** A cell that a person changed before the file was taken in. `row`: as in problems, 1 is the header. `at`: ISO UTC. */
export type Mend = { row: number; column: string; was: string; became: string; by: string; at: string };

/** A person who dropped or mended the file before it was taken in. Nobody of them approves the batch (P37). */
export type Preparer = { name: string; uid: number | null; did: 'dropped' | 'mended' };

/** Records who prepared the file of a batch, and how. In the transaction that decides the batch. */
export async function recordPreparation(
  trx: Trx,
  batch_id: string,
  { mends, preparers }: { mends: readonly Mend[]; preparers: readonly Preparer[] },
): Promise<void> {
  for (const { row, column, was, became, by, at } of mends)
    await trx
      .insertInto('mends')
      .values({
        batch_id,
        row_number: BigInt(row),
        column_name: column,
        was,
        became,
        mended_by: by,
        mended_at: at,
      })
      .execute();
  for (const { name, uid, did } of preparers)
    await trx
      .insertInto('preparers')
      .values({ batch_id, name, uid: uid === null ? null : BigInt(uid), did })
      .execute();
}

/** Returns the cells of a batch's file that people changed, in their order. */
export async function mendsOf(db: Db | Trx, batch: string): Promise<Mend[]> {
  const rows = await db
    .selectFrom('mends')
    .selectAll()
    .where('batch_id', '=', batch)
    .orderBy('id')
    .limit(10_000)
    .execute();
  return rows.map((row) => ({
    row: Number(row.row_number),
    column: row.column_name,
    was: row.was,
    became: row.became,
    by: row.mended_by,
    at: row.mended_at,
  }));
}

/** A batch of which a person changed so many cells before it was taken in; `at`: the last of them, ISO UTC. */
export type MendedBatch = { batch: string; by: string; cells: number; at: string };

/** The batches whose files people mended last, the newest first: a row for each person. */
export async function mendedLately(db: Db, limit: number): Promise<MendedBatch[]> {
  const rows = await db
    .selectFrom('mends')
    .select(['batch_id', 'mended_by', (eb) => eb.fn.countAll<bigint>().as('cells')])
    .select((eb) => eb.fn.max('mended_at').as('at'))
    .groupBy(['batch_id', 'mended_by'])
    .orderBy((eb) => eb.fn.max('id'), 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ batch_id: batch, mended_by: by, cells, at }) => ({
    batch,
    by,
    cells: Number(cells),
    at,
  }));
}
