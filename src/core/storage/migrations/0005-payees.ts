import { type Kysely, sql } from 'kysely';

const statements = [
  // The employer's own key of whom the row pays; empty: the file names none.
  `alter table payouts add column payee_id text not null default ''`,
  `create trigger payouts_payee_frozen before update of payee_id on payouts
    when old.payee_id is not new.payee_id and old.history_seq > 0
    begin select raise(abort, 'the payee is frozen at intake'); end`,
  // How the payees of a batch differ from those of the last batch of its series, as of its intake (P37).
  `create table payee_comparisons (
    batch_id text primary key not null references batches (id), digest text not null, found text not null
    ) strict, without rowid`,
];

/** Adds whom a row pays, and what changed since. No row is rewritten: who was paid is read from the payouts themselves. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
