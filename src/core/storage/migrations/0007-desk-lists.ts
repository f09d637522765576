import { type Kysely, sql } from 'kysely';

const statements = [
  // An open month finds its payments by it: on the first day of a month none of the months before is read.
  `create index history_paid on history (at, id) where to_state = 'success' and from_state <> 'success'`,
  // The list of one bank.
  `create index payouts_bank on payouts (bank_code, id)`,
];

/** Adds the indexes by which lists of the desk take no longer in a large ledger. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
