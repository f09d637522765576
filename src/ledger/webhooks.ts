import { sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from './open.ts';
import type { Webhook } from './tables.ts';

/** Stored webhooks of one mode that nothing has been done with yet, oldest first. */
export async function unappliedWebhooks(db: Db, mode: Mode, limit: number): Promise<Webhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('applied_at', 'is', null)
    .where('mode', '=', mode)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The payout a webhook speaks of: by our reference, else by trx; undefined when neither is known. */
export async function payoutOfWebhook(db: Db | Trx, webhook: Webhook): Promise<bigint | undefined> {
  const byReference = await db
    .selectFrom('payouts')
    .select('id')
    .where('mode', '=', webhook.mode)
    .where('reference_key', '=', foldReference(webhook.reference ?? ''))
    .executeTakeFirst();
  if (byReference || webhook.trx === null) return byReference?.id;
  const byTrx = await db
    .selectFrom('payouts')
    .select('id')
    .where('mode', '=', webhook.mode)
    .where('trx', '=', webhook.trx)
    .executeTakeFirst();
  return byTrx?.id;
}

/** Unfinished payouts with this account, currency and amount: a reason for a question, never an answer. At most 5. */
export async function payoutsLike(
  db: Db | Trx,
  like: { mode: Mode; accountNumber: string; currency: string; amount: bigint },
): Promise<bigint[]> {
  const rows = await db
    .selectFrom('payouts')
    .select('id')
    .where('mode', '=', like.mode)
    .where('account_number', '=', like.accountNumber)
    .where('currency', '=', like.currency)
    .where('amount', '=', like.amount)
    .where('state', 'in', ['sending', 'unknown', 'pending'])
    .limit(5)
    .execute();
  return rows.map((row) => row.id);
}

/** Marks a webhook as applied, with what it did. */
export async function markApplied(
  trx: Trx,
  id: bigint,
  applied: { at: string; payoutId: bigint | null; collectionId?: bigint | null; effect: string },
): Promise<void> {
  const { at, payoutId, collectionId = null, effect } = applied;
  await trx
    .updateTable('webhooks')
    .set({ applied_at: at, payout_id: payoutId, collection_id: collectionId, effect })
    .where('id', '=', id)
    .execute();
}

export type WebhookCounts = { received: number; applied: number; oldestUnapplied: string | null };

/** Deliveries heard, webhooks applied, and the time of the oldest that waits. */
export async function webhookCounts(db: Db, mode: Mode): Promise<WebhookCounts> {
  const row = await db
    .selectFrom('webhooks')
    .select((eb) => [
      eb.fn.sum<bigint | null>('deliveries').as('received'),
      eb.fn.count<bigint>('applied_at').as('applied'),
      sql<string | null>`min(case when applied_at is null then received_at end)`.as('oldest'),
    ])
    .where('mode', '=', mode)
    .executeTakeFirstOrThrow();
  return { received: Number(row.received ?? 0n), applied: Number(row.applied), oldestUnapplied: row.oldest };
}

/** Whether an earlier webhook about the payout said this; `effect` as applying wrote it. */
export async function saidBefore(trx: Trx, payoutId: bigint, effect: string): Promise<boolean> {
  const row = await trx
    .selectFrom('webhooks')
    .select('id')
    .where('payout_id', '=', payoutId)
    .where('effect', '=', effect)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
