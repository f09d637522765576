import { sql } from 'kysely';
import type { Db, Trx } from '../core/storage/ledger.ts';

/** Promises the reports of a run, in the transaction that freezes it (P34). They repeat its `summary`. */
export async function promiseReports(trx: Trx, run: string, summary: object): Promise<void> {
  const promise = { reports_due: 1n, summary: JSON.stringify(summary) };
  await trx.updateTable('runs').set(promise).where('id', '=', run).execute();
}

export async function reportsWritten(trx: Trx, run: string): Promise<void> {
  await trx.updateTable('runs').set({ reports_due: 0n }).where('id', '=', run).execute();
}

/** The runs whose reports are promised and not written yet, in their order. */
export async function runsDue(db: Db): Promise<string[]> {
  const due = sql.lit(1n); // A literal: SQLite uses a partial index for no bound value.
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where('reports_due', '=', due)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}
