import { type Kysely, sql } from 'kysely';

const statements = [
  // 1: this row is sent only with an approval of its batch, whatever the rest of the batch needs (P37).
  `alter table payouts add column approval_needed integer not null default 0 check (approval_needed in (0, 1))`,
  `create trigger payouts_approval_frozen before update of approval_needed on payouts
    when old.approval_needed is not new.approval_needed and old.history_seq > 0
    begin select raise(abort, 'what needs an approval is frozen at intake'); end`,
  `create index payouts_marked on payouts (batch_id, id) where approval_needed = 1`,
  // 0: rows that waited for an approval when it began are none of it.
  `alter table canaries add column marked integer not null default 1 check (marked in (0, 1))`,
  // What a payout has in the columns that the configuration says are unique, such as an invoice number, folded.
  `create table payout_values (
    column_key text not null, value text not null, payout_id integer not null references payouts (id),
    primary key (column_key, value, payout_id)) strict, without rowid`,
  `create index payout_values_payout on payout_values (payout_id)`,
  'drop index payouts_ready',
  `create index payouts_ready on payouts (state, batch_id, currency, pay_on, approval_needed, id) where state = 'ready'`,
];

/** Adds rows that need an approval of their own, and values that must be unique. No row is rewritten, so that an upgrade takes about the same time for every ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
