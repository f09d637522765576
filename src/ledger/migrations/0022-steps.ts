import { type Kysely, sql } from 'kysely';

const statements = [
  // Reservations last for seconds: those of before are forgotten.
  `delete from rates`,
  `alter table rates add column noted_at_ms integer not null default 0`,
  `alter table pauses add column noted_at text not null default ''`,
];

/** When a wait was written down, so that a wall clock that steps prolongs none (P33). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
