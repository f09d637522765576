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
  `alter table jobs add column result_kind text
    check (result_kind in ('running','succeeded','incomplete','failed','skipped'))`,
  `alter table jobs add column runner text`,
  `alter table jobs add column expression text`,
  `alter table jobs add column ended_at text`,
  `alter table jobs add column tries integer not null default 0`,
];

/**
 * When a wait was written down, so that a wall clock that steps prolongs none (P33); from when until when a day of
 * daily_limit lasts, so that days of two time zones can be compared; and how the last run of a job ended, as a kind.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
  const { rows } = await sql<{ id: bigint; day: string }>`select id, day from limit_days`.execute(db);
  for (const { id, day } of rows) {
    const [begins, ends] = [noonUtc(day, -1), noonUtc(day, 0)];
    await sql`update limit_days set begins_at = ${begins}, ends_at = ${ends} where id = ${id}`.execute(db);
  }
  const jobs = await sql<{
    job: string;
    last_result: string | null;
  }>`select job, last_result from jobs`.execute(db);
  for (const { job, last_result } of jobs.rows) {
    const { kind, runner, result } = readResult(last_result ?? '');
    await sql`update jobs set result_kind = ${kind}, runner = ${runner}, last_result = ${result}
      where job = ${job}`.execute(db);
  }
}

/** A result as earlier versions wrote it: who was at it, `failed: why`, or the run's counts as JSON. */
function readResult(text: string): { kind: string | null; runner: string | null; result: string | null } {
  const runner = /^\{"running":"([^"]+)"\}$/.exec(text)?.[1] ?? null;
  if (runner !== null) return { kind: 'running', runner, result: null };
  const error = /^failed: (.*)$/s.exec(text)?.[1];
  if (error !== undefined) return { kind: 'failed', runner: null, result: JSON.stringify({ error }) };
  return { kind: text === '' ? null : 'succeeded', runner: null, result: text || null };
}

/**
 * A day of an earlier version lies in a zone that is not known here. From noon to noon UTC it overlaps the day of its date
 * in every zone, and the next one in none.
 */
function noonUtc(day: string, plusDays: number): string {
  return new Date(Date.parse(`${day}T12:00:00.000Z`) + plusDays * 86_400_000).toISOString();
}
