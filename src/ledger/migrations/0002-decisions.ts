import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table payouts add column successor_of integer references payouts (id)`,
  `alter table payouts add column unseen_sends integer not null default 0`,
  `alter table payouts add column auto_resends integer not null default 0`,
  `create unique index payouts_successor on payouts (successor_of) where successor_of is not null`,
  `create index history_retry on history (payout_id) where event = 'retry'`,
];

/** People's decisions (P20), automatic resends (P16), and sends that a ledger which went back in time forgot (P25). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
