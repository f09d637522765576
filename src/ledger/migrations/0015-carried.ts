import { type Kysely, sql } from 'kysely';

/** What tells a listed row's content from every other; rows of older versions have none, and are written anew once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table listed add column print integer').execute(db);
}
