import { type Kysely, sql } from 'kysely';

const tables = ['periods', 'period_rows', 'period_transfers'];
const never = "begin select raise(abort, 'a closed month never changes'); end";

const statements = [
  `alter table runs add column history_mark integer`,
  `create table periods (
    mode text not null check (mode in ('test','live')), month text not null, starts_at text not null,
    ends_at text not null, timezone text not null, from_history integer not null,
    through_history integer not null check (through_history >= from_history), closed_at text not null, run_id text,
    digest text not null, primary key (mode, month)) strict, without rowid`,
  `create table period_rows (
    mode text not null check (mode in ('test','live')), month text not null, sheet text not null,
    position integer not null, cells text not null,
    primary key (mode, month, sheet, position)) strict, without rowid`,
  `create table period_transfers (
    mode text not null check (mode in ('test','live')), transfer_id text not null, month text not null,
    primary key (mode, transfer_id)) strict, without rowid`,
  ...tables.flatMap((table) => [
    `create trigger ${table}_no_update before update on ${table} ${never}`,
    `create trigger ${table}_no_delete before delete on ${table} ${never}`,
  ]),
  // Rows come before their month, in its transaction; nothing is added afterwards.
  ...['period_rows', 'period_transfers'].map(
    (table) => `create trigger ${table}_no_more before insert on ${table}
      when exists (select 1 from periods p where p.mode = new.mode and p.month = new.month) ${never}`,
  ),
];

/** Closed months with their frozen statements (P30), and where in the history a run began to read the list. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
