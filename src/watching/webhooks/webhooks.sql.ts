import { sql } from 'kysely';
import { foldReference } from '../../core/domain/ids.ts';
import { accountOfKey, type ServiceAccount } from '../../core/domain/origin.ts';
import type { WitnessStatus } from '../../core/domain/payout.ts';
import { onlySaid, type SaidFields } from '../../core/ledger/contradiction-columns.ts';
import { sentWithOtherKeys } from '../../core/ledger/origins.ts';
import {
  bulkText,
  field,
  idList,
  idsIn,
  idsText,
  integerField,
  rowsIn,
  textsIn,
} from '../../core/storage/bulk.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';
import { prepared } from '../../core/storage/prepared.ts';
import type { WebhookOutcome } from '../../core/storage/tables/said-columns.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import { prunedCounts } from './prune-unmatched.sql.ts';
import { signedWith } from './webhook-inbox.sql.ts';
import { countWebhooks, readWebhookTallies, wasEverApplied } from './webhook-tallies.sql.ts';

/** Stored webhooks that nothing has been done with yet, oldest first. */
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

/** Those of these webhooks that no process has applied since they were read. */
export async function stillUnapplied(trx: Trx, webhooks: readonly Webhook[]): Promise<Webhook[]> {
  const rows = await unappliedOf(trx, [idsText(webhooks.map(({ id }) => id))]);
  const still = new Set(rows.map(({ id }) => id));
  return webhooks.filter(({ id }) => still.has(id));
}

/**
 * Marks webhooks to be applied again that say more now than when they came. A payout may have become known by their trx
 * (P13, P18), or the key that signed them as one of their payout's account (P31).
 */
export async function applyAgain(ledger: Ledger, account: ServiceAccount | null): Promise<void> {
  const tellMore = async (db: Db | Trx): Promise<bigint[]> => [
    ...(await nowMatched(db)),
    ...(account ? await nowOfTheirAccount(db, account) : []),
  ];
  // Most often there are none, and so nothing to write.
  if ((await tellMore(ledger.db)).length === 0) return;
  await ledger.write(async (trx) => {
    const ids = idList(await tellMore(trx));
    await trx.updateTable('webhooks').set({ applied_at: null }).where('id', 'in', ids).execute();
  });
}

/** Webhooks that matched no payout, whose trx a payout bears now: the service had named it by a reference of its own. */
async function nowMatched(db: Db | Trx): Promise<bigint[]> {
  const rows = await db
    .selectFrom('webhooks as w')
    .innerJoin('payouts as p', 'p.trx', 'w.trx')
    .select('w.id')
    .where('w.payout_id', 'is', null)
    .where('w.applied_at', 'is not', null)
    .where('w.kind', '=', sql.lit('payout'))
    .execute();
  return rows.map(({ id }) => id);
}

async function nowOfTheirAccount(db: Db | Trx, account: ServiceAccount): Promise<bigint[]> {
  if (!(await wasEverApplied(db, 'other_key'))) return [];
  const rows = await db
    .selectFrom('webhooks as w')
    .innerJoin('payouts as p', 'p.id', 'w.payout_id')
    .select(['w.id', 'w.headers', 'p.id as payoutId'])
    .where('w.verdict', '=', sql.lit('other_key'))
    .where('w.applied_at', 'is not', null)
    // An archived webhook has lost its body and its headers.
    .where('p.archived_seq', 'is', null)
    .execute();
  const signed = rows.map(({ id, headers, payoutId }) => ({ webhook: { id, headers }, payoutId }));
  const others = new Set(await ofOtherKeys(db, signed, account));
  return signed.flatMap((one) => (others.has(one) ? [] : [one.webhook.id]));
}

/** Those of these webhooks that were signed with a key that their payout was certainly not sent with (P31). */
export async function ofOtherKeys<One extends { webhook: Pick<Webhook, 'headers'>; payoutId: bigint }>(
  db: Db | Trx,
  placed: readonly One[],
  account: ServiceAccount,
): Promise<One[]> {
  const others: One[] = [];
  for (const [key, own] of Map.groupBy(placed, ({ webhook }) => signedWith(webhook))) {
    const payouts = own.map(({ payoutId }) => payoutId);
    const elsewhere = await sentWithOtherKeys(db, payouts, accountOfKey(account, key));
    others.push(...own.filter(({ payoutId }) => elsewhere.has(payoutId)));
  }
  return others;
}

/** The payout a webhook speaks of: by our reference, else by trx; undefined when neither is known. */
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

/** Unfinished payouts with this account, currency and amount: a reason for a question, never an answer. At most 5. */
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
      collection_id = null, verdict = ${field('verdict')}, said = ${field('said')}, against = ${field('against')},
      differences = ${field('differences')}
    from ${rowsIn(slot(1))} as row where webhooks.id = ${integerField('id')}`,
);

/** What applying a webhook found. */
export type Applied = { verdict: WebhookOutcome; word?: SaidFields };

/** Marks webhooks about payouts as applied, with what each said. */
export async function markAllApplied(
  trx: Trx,
  at: string,
  applied: readonly (Applied & { id: bigint; payoutId: bigint })[],
): Promise<void> {
  if (applied.length === 0) return;
  const rows = applied.map(({ id, payoutId, verdict, word = onlySaid() }) => ({
    id,
    payout_id: payoutId,
    verdict,
    ...word,
  }));
  await updateApplied(trx, [at, bulkText(rows)]);
  await countWebhooks(
    trx,
    applied.map(({ verdict }) => ({ what: `applied:${verdict}`, n: 1 })),
  );
}

/** Marks a webhook that is about no payout as applied, with what it said. */
export async function markApplied(
  trx: Trx,
  id: bigint,
  applied: Applied & { at: string; collectionId?: bigint | null },
): Promise<void> {
  const { at, collectionId = null, verdict, word = onlySaid() } = applied;
  await trx
    .updateTable('webhooks')
    .set({ applied_at: at, payout_id: null, collection_id: collectionId, verdict, ...word })
    .where('id', '=', id)
    .execute();
  await countWebhooks(trx, [{ what: `applied:${verdict}`, n: 1 }]);
}

/** `applied`: deliveries whose webhook was applied. `strangers`: deleted webhooks that matched no payout. */
export type WebhookCounts = {
  received: number;
  applied: number;
  oldestUnapplied: string | null;
  strangers: number;
};

/** Deliveries received and applied, and the time of the oldest that waits. Reads the kept tally and what waits. */
export async function webhookCounts(db: Db): Promise<WebhookCounts> {
  const { received } = await readWebhookTallies(db);
  const waiting = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.sum<bigint | null>('deliveries').as('deliveries'))
    .select((eb) => eb.fn.min<string | null>('received_at').as('oldest'))
    .where('applied_at', 'is', null)
    .executeTakeFirstOrThrow();
  return {
    received,
    applied: received - Number(waiting.deliveries ?? 0n),
    oldestUnapplied: waiting.oldest,
    strangers: (await prunedCounts(db)).webhooks,
  };
}

const selectSaid = prepared<{ payout_id: bigint | null; said: WitnessStatus | null }>((db, slot) =>
  db
    .selectFrom('webhooks')
    .select(['payout_id', 'said'])
    .where('payout_id', 'in', idsIn(slot(0)))
    .where('verdict', '=', sql.lit('says'))
    .distinct(),
);

/** Which statuses earlier webhooks gave each of the payouts, where nothing contradicted them. */
export async function saidBefore(
  trx: Trx,
  payoutIds: readonly bigint[],
): Promise<Map<bigint, Set<WitnessStatus>>> {
  const found = new Map<bigint, Set<WitnessStatus>>();
  for (const { payout_id, said } of await selectSaid(trx, [idsText(payoutIds)])) {
    if (payout_id === null || said === null) continue;
    found.set(payout_id, (found.get(payout_id) ?? new Set()).add(said));
  }
  return found;
}
