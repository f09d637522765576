import { sql } from 'kysely';
import type { Db } from '../../core/storage/ledger.ts';

/** Of a webhook `w`: it may tell how a payout ended. A stale one does, since only the time of its delivery is in doubt. */
const tellsEnd = sql<boolean>`(w.verdict is null
  or not (w.verdict in ('no_status', 'other_key') or (w.verdict = 'says' and w.said = 'pending')))`;

/** True where a webhook about the final state of payout `id` has come. */
export const hasFinalWebhook = (id: string) =>
  sql<boolean>`exists (select 1 from webhooks w where w.payout_id = ${sql.ref(id)} and ${tellsEnd})`;

/** When the first webhook about the end of a payout came, whose id stands in this column. */
export const firstFinalWebhookOf = (id: string) =>
  sql<
    string | null
  >`(select min(w.received_at) from webhooks w where w.payout_id = ${sql.ref(id)} and ${tellsEnd})`;

/** When the first webhook about the end of a payout came. */
export async function firstFinalWebhook(db: Db, id: bigint): Promise<string | null> {
  const row = await db
    .selectFrom('payouts')
    .select(firstFinalWebhookOf('payouts.id').as('at'))
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.at ?? null;
}
