import { type Kysely, sql } from 'kysely';

const statements = [
  // Reservations last for seconds: those of before are forgotten.
  `delete from rates`,
  `alter table rates add column noted_at_ms integer not null default 0`,
  `alter table pauses add column noted_at text not null default ''`,
  `alter table limit_days add column begins_at text not null default ''`,
  `alter table limit_days add column ends_at text not null default ''`,
  `drop index limit_days_day`,
  `create index limit_days_ends on limit_days (mode, ends_at)`,
];

/**
 * When a wait was written down, so that a wall clock that steps prolongs none (P33); and from when until when a day of
 * daily_limit lasts, so that days of two time zones can be compared.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
  const { rows } = await sql<{ id: bigint; day: string }>`select id, day from limit_days`.execute(db);
  for (const { id, day } of rows) {
    const [begins, ends] = [noonUtc(day, -1), noonUtc(day, 0)];
    await sql`update limit_days set begins_at = ${begins}, ends_at = ${ends} where id = ${id}`.execute(db);
  }
}

/**
 * A day of an earlier version lies in a zone that is not known here. From noon to noon UTC it overlaps the day of its date
 * in every zone, and the next one in none.
 */
function noonUtc(day: string, plusDays: number): string {
  return new Date(Date.parse(`${day}T12:00:00.000Z`) + plusDays * 86_400_000).toISOString();
}
