import { type Kysely, PostgresAdapter, sql } from 'kysely';
import { migrations } from '../../src/core/storage/known-migrations.ts';

/** It comes behind every real migration, whichever is the newest. */
const name = '9000-next';

/** From now on this program is of the next version, until the migration of this name is deleted. */
export function addNextMigration(): string {
  migrations[name] = async () => ({ up });
  return name;
}

/** Does what the dearest of real migrations do: a column with a default, a changed CHECK of the largest table, an index. */
async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table payouts add column next_note text not null default ''`.execute(db);
  if (db.getExecutor().adapter instanceof PostgresAdapter) await changeCheck(db);
  else await rebuildHistory(db);
  await sql`create index payouts_next on payouts (updated_at, id)`.execute(db);
}

async function changeCheck(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ text: string }>`select pg_get_constraintdef(oid) as text from pg_constraint
    where conname = 'history_event_check' and connamespace = current_schema()::regnamespace`.execute(db);
  const [check] = rows;
  if (!check) throw new Error('history has no CHECK of its events');
  const text = check.text.replace(/^CHECK \(/, "check (event = 'next' or ");
  await sql.raw(`alter table history drop constraint history_event_check`).execute(db);
  await sql.raw(`alter table history add constraint history_event_check ${text}`).execute(db);
}

/** SQLite changes a CHECK only with a new table. The indexes and triggers of the old one go with it, and are made again. */
async function rebuildHistory(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ type: string; sql: string }>`select type, sql from sqlite_master
    where tbl_name = 'history' and sql is not null`.execute(db);
  const table = rows.find(({ type }) => type === 'table')?.sql ?? '';
  const changed = table
    .replace(/^create table history/i, 'create table history_next')
    .replace("check (event = 'intake'", "check (event = 'next' or event = 'intake'");
  if (changed.length < table.length + 20) throw new Error('the definition of history is another one');
  await sql.raw(changed).execute(db);
  await sql`insert into history_next select * from history order by id`.execute(db);
  await sql`drop table history`.execute(db);
  await sql`alter table history_next rename to history`.execute(db);
  for (const { type, sql: text } of rows) if (type !== 'table') await sql.raw(text).execute(db);
}
