import { type Kysely, sql } from 'kysely';

const statements = [
  // The day before which the payout is not sent, `YYYY-MM-DD`; empty: at once.
  `alter table payouts add column pay_on text not null default ''`,
  `create trigger payouts_pay_on_frozen before update of pay_on on payouts
    when old.pay_on is not new.pay_on and old.history_seq > 0
    begin select raise(abort, 'the day of payment is frozen at intake'); end`,
  // A canary is of what could go when it began. One that began before there were days is of all.
  `alter table canaries add column day text not null default '9999-12-31'`,
  // Both hold what is ready alone, so that neither is large. The day comes before the id: what waits is skipped in a step.
  'drop index payouts_ready',
  `create index payouts_ready on payouts (state, batch_id, currency, pay_on, id) where state = 'ready'`,
  `create index payouts_dated on payouts (pay_on, currency, amount) where state = 'ready' and pay_on <> ''`,
];

/** Adds the day of payment. No row is rewritten, so that an upgrade takes about the same time for every ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
