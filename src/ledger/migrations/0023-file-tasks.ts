import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table file_moves add column kind text not null default 'archive' check (kind in ('archive','errors','invalid'))`,
  `alter table file_moves add column owner text not null default ''`,
  `alter table file_moves add column bytes integer`,
  `alter table file_moves add column sha256 text not null default ''`,
  `alter table file_moves add column outcome text check (outcome in ('done','missing','differs'))`,
  `create index file_moves_open on file_moves (id) where done_at is null`,
  `create index file_moves_owner on file_moves (owner)`,
  `alter table batches add column file_state text not null default 'none'
    check (file_state in ('none','due','whole','changed','missing','accepted','begun'))`,
  `create index batches_files on batches (mode, file_state) where file_state in ('due','whole','changed','missing')`,
  `alter table runs add column reports_due integer not null default 0 check (reports_due in (0, 1))`,
  `create index runs_reports_due on runs (mode) where reports_due = 1`,
];

/**
 * What is promised beside the ledger is a row of it until it is done (P34): what each file is, whose, and the bytes that
 * were read; whether a batch's file is still what was read; and which runs still lack their reports.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
