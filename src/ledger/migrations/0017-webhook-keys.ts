import { type Kysely, sql } from 'kysely';

const statements = [
  `drop index webhooks_digest`,
  `create unique index webhooks_digest on webhooks (mode, coalesce(reference, ''), digest)`,
  `drop index webhooks_payout`,
  `create index webhooks_payout on webhooks (payout_id) where payout_id is not null`,
];

/**
 * Deliveries come about in the order of their payouts, so that with the reference before the digest, which is chance,
 * those of a group stand side by side: each commit writes a third of the pages. What waits to be applied needs no place
 * among the payouts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
