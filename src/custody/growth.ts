import { ledgerBytes } from '../core/storage/free-space.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { latestRunFirst } from '../watching/listing/listings.sql.ts';

const dayMs = 24 * 60 * 60_000;
/** How far back the growth is measured, in days. */
const spanDays = 28;

/** `perDay`: bytes; null while less than a day is known. */
export type Growth = { bytes: number; perDay: number | null; days: number };

/** Records how large the ledger is at the end of a run, in the transaction that freezes it. */
export async function noteLedgerBytes(trx: Trx, run: string): Promise<void> {
  await trx
    .updateTable('runs')
    .set({ ledger_bytes: await ledgerBytes(trx) })
    .where('id', '=', run)
    .execute();
}

/**
 * How fast the ledger grows, from the sizes that its runs of the last four weeks recorded. Only increases count: an
 * archive or a vacuum that made it smaller says nothing about the next week.
 */
export async function ledgerGrowth(db: Db, nowMs: number): Promise<Growth> {
  const since = new Date(nowMs - spanDays * dayMs).toISOString();
  const newestFirst = await db
    .selectFrom('runs')
    .select(['started_at', 'ledger_bytes'])
    .where('started_at', '>=', since)
    .where('ledger_bytes', 'is not', null)
    .orderBy(latestRunFirst)
    .execute();
  const now = await ledgerBytes(db);
  const sizes = [...newestFirst.toReversed().map(({ ledger_bytes }) => ledger_bytes ?? 0n), now];
  const grown = sizes.reduce((sum, size, at) => {
    const before = sizes[at - 1] ?? size;
    return size > before ? sum + size - before : sum;
  }, 0n);
  const first = newestFirst.at(-1)?.started_at;
  const days = first === undefined ? 0 : (nowMs - Date.parse(first)) / dayMs;
  return { bytes: Number(now), perDay: days < 1 ? null : Number(grown) / days, days };
}
