import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table inquiries add column rung_due_at text`,
  `alter table inquiries add column raised integer not null default 0`,
  `alter table inquiries add column attempt_id integer`,
  `alter table inquiries add column clock_off_ms integer`,
  `alter table inquiries add column probe text`,
  `update inquiries set rung_due_at = due_at
    where outcome is null and kind = 'details' and reason in ('unknown outcome', 'unknown')`,
];

/** What a look-up must tell besides its answer, for its silence to count as absence (P16). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
