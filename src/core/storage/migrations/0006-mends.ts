import { type Kysely, sql } from 'kysely';

const statements = [
  // The cells that people changed before the file was taken in.
  `create table mends (
    id integer primary key, batch_id text not null references batches (id), row_number integer not null,
    column_name text not null, was text not null, became text not null,
    mended_by text not null, mended_at text not null) strict`,
  `create index mends_batch on mends (batch_id)`,
  // Those who dropped or mended the file before the person who had it taken in.
  `create table preparers (
    id integer primary key, batch_id text not null references batches (id), name text not null, uid integer,
    did text not null check (did in ('dropped','mended'))) strict`,
  `create index preparers_batch on preparers (batch_id)`,
];

/** Adds who prepared the file of a batch, and how. No row is rewritten, so that an upgrade takes the same time for every ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
