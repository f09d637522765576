import { type Kysely, sql } from 'kysely';

/** No row is written, so that an upgrade takes the same time for every ledger. An archive keeps the names of its time. */
const statements = [
  'alter table heard_references rename to unmatched_references',
  'alter table origin_sights rename to same_accounts',
  'alter table same_accounts rename column seen_by to asked_as',
  'alter table same_accounts rename column origin_id to sent_as',
];

/** Names two tables after what they hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
