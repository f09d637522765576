import { type Kysely, sql } from 'kysely';

/**
 * A ledger belongs to one mode (P24). One that was used is bound by what it took in, to live where any of it is live; else
 * by what it reconciled or heard. An unused one is bound by the next process that opens it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `insert into meta (key, value) select 'mode', used.mode from (select coalesce(
        (select min(mode) from batches), (select min(mode) from runs), (select min(mode) from webhooks)) as mode) as used
      where used.mode is not null on conflict (key) do nothing`,
    )
    .execute(db);
}
