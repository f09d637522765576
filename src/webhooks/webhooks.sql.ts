import { sql } from 'kysely';
import { foldReference } from '../domain/ids.ts';
import { field, idsIn, idsOf, idsText, integerField, rowsIn, rowsText, textsIn } from '../storage/bulk.ts';
import type { Db, Ledger, Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { Webhook } from '../storage/tables/tables.ts';

/** Stored webhooks that are not applied yet, oldest first. */
export async function unappliedWebhooks(db: Db, limit: number): Promise<Webhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('applied_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute();
}

const unappliedOf = prepared<{ id: bigint }>(
  (_, slot) => sql`select id from webhooks where applied_at is null and id in ${idsIn(slot(0))}`,
);

/** Returns those of these webhooks that are still not applied. */
export async function stillUnapplied(trx: Trx, webhooks: readonly Webhook[]): Promise<Webhook[]> {
  const rows = await unappliedOf(trx, [idsText(webhooks.map(({ id }) => id))]);
  const still = new Set(rows.map(({ id }) => id));
  return webhooks.filter(({ id }) => still.has(id));
}

/**
 * Marks unmatched webhooks as unapplied once a payout is known by their trx (P13, P18): the service reported it under
 * its own reference.
 */
export async function reopenUnmatched(ledger: Ledger): Promise<void> {
  const known = (db: Db | Trx) =>
    db
      .selectFrom('webhooks as w')
      .innerJoin('payouts as p', 'p.trx', 'w.trx')
      .select('w.id')
      .where('w.payout_id', 'is', null)
      .where('w.applied_at', 'is not', null)
      .where('w.kind', '=', sql.lit('payout'))
      .execute();
  // Most often there are none, and so nothing to write.
  if ((await known(ledger.db)).length === 0) return;
  await ledger.write(async (trx) => {
    const ids = (await known(trx)).map(({ id }) => id);
    await trx.updateTable('webhooks').set({ applied_at: null }).where('id', 'in', idsOf(ids)).execute();
  });
}

/** The payout that a webhook concerns: by our reference, else by trx; undefined when neither is known. */
export async function payoutOfWebhook(db: Db | Trx, webhook: Webhook): Promise<bigint | undefined> {
  const byReference = await db
    .selectFrom('payouts')
    .select('id')
    .where('reference_key', '=', foldReference(webhook.reference ?? ''))
    .executeTakeFirst();
  if (byReference || webhook.trx === null) return byReference?.id;
  const byTrx = await db.selectFrom('payouts').select('id').where('trx', '=', webhook.trx).executeTakeFirst();
  return byTrx?.id;
}

/** Unfinished payouts with this account, currency and amount: a reason to ask, never an answer. At most 5. */
export async function payoutsLike(
  db: Db | Trx,
  like: { accountNumber: string; currency: string; amount: bigint },
): Promise<bigint[]> {
  const rows = await db
    .selectFrom('payouts')
    .select('id')
    .where('account_number', '=', like.accountNumber)
    .where('currency', '=', like.currency)
    .where('amount', '=', like.amount)
    .where('state', 'in', ['sending', 'unknown', 'pending'])
    .limit(5)
    .execute();
  return rows.map((row) => row.id);
}

const selectByReference = prepared<{ id: bigint; reference_key: string }>((db, slot) =>
  db
    .selectFrom('payouts')
    .select(['id', 'reference_key'])
    .where('reference_key', 'in', textsIn(slot(0))),
);

/** The payouts that webhooks name by our reference, by the folded reference. */
export async function payoutsOfReferences(
  trx: Trx,
  webhooks: readonly Webhook[],
): Promise<Map<string, bigint>> {
  const keys = webhooks.flatMap(({ reference }) => (reference === null ? [] : [foldReference(reference)]));
  if (keys.length === 0) return new Map();
  const rows = await selectByReference(trx, [JSON.stringify([...new Set(keys)])]);
  return new Map(rows.map((row) => [row.reference_key, row.id]));
}

const updateApplied = prepared<never>(
  (_, slot) => sql`update webhooks set applied_at = ${slot(0)}, payout_id = ${integerField('payout_id')},
      collection_id = null, effect = ${field('effect')}
    from ${rowsIn(slot(1))} as row where webhooks.id = ${integerField('id')}`,
);

/** Marks webhooks about payouts as applied, with the effect of each. */
export async function markAllApplied(
  trx: Trx,
  at: string,
  applied: readonly { id: bigint; payoutId: bigint; effect: string }[],
): Promise<void> {
  if (applied.length === 0) return;
  const rows = applied.map(({ id, payoutId, effect }) => ({ id, payout_id: payoutId, effect }));
  await updateApplied(trx, [at, rowsText(rows)]);
}

/** Marks a webhook as applied, with its effect. */
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

/** Deliveries received, webhooks applied, and the time of the oldest unapplied one. */
export async function webhookCounts(db: Db): Promise<WebhookCounts> {
  const row = await db
    .selectFrom('webhooks')
    .select((eb) => [
      eb.fn.sum<bigint | null>('deliveries').as('received'),
      eb.fn.count<bigint>('applied_at').as('applied'),
      sql<string | null>`min(case when applied_at is null then received_at end)`.as('oldest'),
    ])
    .executeTakeFirstOrThrow();
  return { received: Number(row.received ?? 0n), applied: Number(row.applied), oldestUnapplied: row.oldest };
}

const selectEffects = prepared<{ payout_id: bigint | null; effect: string | null }>((db, slot) =>
  db
    .selectFrom('webhooks')
    .select(['payout_id', 'effect'])
    .where('payout_id', 'in', idsIn(slot(0)))
    .where('effect', 'in', textsIn(slot(1)))
    .distinct(),
);

/** Returns which of these effects earlier webhooks about each payout had, as apply-inbox.ts words them. */
export async function effectsBefore(
  trx: Trx,
  payoutIds: readonly bigint[],
  effects: readonly string[],
): Promise<Map<bigint, Set<string>>> {
  const effectsOf = new Map<bigint, Set<string>>();
  for (const { payout_id, effect } of await selectEffects(trx, [
    idsText(payoutIds),
    JSON.stringify(effects),
  ])) {
    if (payout_id === null || effect === null) continue;
    effectsOf.set(payout_id, (effectsOf.get(payout_id) ?? new Set()).add(effect));
  }
  return effectsOf;
}
