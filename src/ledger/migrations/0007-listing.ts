import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table runs add column list_order text
    check (list_order in ('newest_first','oldest_first','other','distrusted'))`,
  `alter table runs add column list_cut text`,
  `alter table runs add column edge text`,
  `alter table runs add column base_run_id text references runs (id)`,
];

/** What a listing saw of the list's order, and how far a short cut looked (P29). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
