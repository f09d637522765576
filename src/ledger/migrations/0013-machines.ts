import { type Kysely, sql } from 'kysely';

/** Whose folders a file moves between, where several machines share a ledger; empty where only one has it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`alter table file_moves add column machine text not null default ''`).execute(db);
}
