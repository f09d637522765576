import { type Kysely, sql } from 'kysely';

const statement = `alter table discrepancies add column closed_with_payout integer not null default 0
  check (closed_with_payout in (0,1))`;

/** Which discrepancies a person ended by closing their payout: they open again when evidence opens that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(statement).execute(db);
}
