import { type Kysely, sql } from 'kysely';

const statements = [
  `drop index payouts_transfer`,
  `create index payouts_transfer on payouts (mode, transfer_id) where transfer_id is not null`,
  `drop index payouts_trx`,
  `create index payouts_trx on payouts (mode, trx) where trx is not null`,
];

/** A payout enters these when its id is learned: until then there is nothing to find it by, and no entry to replace. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
