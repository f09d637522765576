import { type Kysely, sql } from 'kysely';

const statements = [
  `alter table inquiries add column history_seq integer`,
  `create index webhooks_unmatched on webhooks (mode, lower(reference))
    where payout_id is null and applied_at is not null and kind = 'payout'`,
];

/**
 * Where an answer stands in its payout's history, which times do not tell once the clock was set back; and the webhooks
 * that were about nobody, by their reference whatever its case. Both are few: what waits to be applied is not among them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
