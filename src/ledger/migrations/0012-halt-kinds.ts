import { type Kysely, sql } from 'kysely';

/** What kind each cause of a halt is, in the order of the causes and with a space between; empty for older ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table halts add column kinds text not null default ''`).execute(db);
}
