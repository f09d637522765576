import { sql } from 'kysely';
import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from './open.ts';

/** An authentic delivery as it came; `digest` is SHA-256 of mode and raw body. */
export type Delivery = {
  mode: Mode;
  digest: string;
  receivedAt: string;
  kind: 'payout' | 'transaction' | 'unknown';
  reference: string | null;
  trx: string | null;
  /** JSON object, Authorization replaced by its verdict. */
  headers: string;
  body: Uint8Array;
  stale: boolean;
};

/** How many refused deliveries are kept. */
const keptRejections = 1000n;

/**
 * Stores deliveries; byte-equal repeats become one row heard several times (P18). Returns the ids that are yet to be
 * applied. A fresh delivery of a body known only as stale makes it a witness after all, so it is applied again.
 */
export async function storeDeliveries(trx: Trx, deliveries: readonly Delivery[]): Promise<bigint[]> {
  if (deliveries.length === 0) return [];
  const rows = await trx
    .insertInto('webhooks')
    .values(oncePerDigest(deliveries))
    .onConflict((conflict) =>
      conflict.columns(['mode', 'digest']).doUpdateSet({
        deliveries: sql`webhooks.deliveries + excluded.deliveries`,
        last_received_at: sql`excluded.last_received_at`,
        applied_at: sql`case when webhooks.stale > excluded.stale then null else webhooks.applied_at end`,
        stale: sql`min(webhooks.stale, excluded.stale)`,
      }),
    )
    .returning(['id', 'applied_at'])
    .execute();
  return rows.filter((row) => row.applied_at === null).map((row) => row.id);
}

function oncePerDigest(deliveries: readonly Delivery[]) {
  const groups = Map.groupBy(deliveries, (delivery) => `${delivery.mode} ${delivery.digest}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const fresh = group.some((delivery) => !delivery.stale);
    return {
      mode: first.mode,
      digest: first.digest,
      received_at: first.receivedAt,
      last_received_at: group.at(-1)?.receivedAt ?? first.receivedAt,
      deliveries: BigInt(group.length),
      kind: first.kind,
      reference: first.reference,
      trx: first.trx,
      headers: first.headers,
      body: first.body,
      stale: fresh ? 0n : 1n,
      applied_at: null,
      payout_id: null,
      effect: null,
    };
  });
}

/** A delivery that was turned away: where it came from and why, without its body. */
export type Rejection = { at: string; path: string; reason: string; address: string };

/** Notes refused deliveries and forgets all but the newest thousand. */
export async function recordRejections(trx: Trx, rejections: readonly Rejection[]): Promise<void> {
  if (rejections.length === 0) return;
  await trx
    .insertInto('rejections')
    .values([...rejections])
    .execute();
  const { newest } = await trx
    .selectFrom('rejections')
    .select((on) => on.fn.max('id').as('newest'))
    .executeTakeFirstOrThrow();
  await trx
    .deleteFrom('rejections')
    .where('id', '<=', BigInt(newest) - keptRejections)
    .execute();
}

/** How many deliveries were ever turned away: ids count up, and the newest is never forgotten. */
export async function countRejections(db: Db): Promise<number> {
  const row = await db
    .selectFrom('rejections')
    .select((on) => on.fn.max('id').as('newest'))
    .executeTakeFirst();
  return Number(row?.newest ?? 0n);
}
