import { sql } from 'kysely';
import { isForged, type WebhookRejectionKind } from '../../core/domain/rejection.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { prepared } from '../../core/storage/prepared.ts';
import type { Webhook } from '../../core/storage/tables/tables.ts';
import { noteAuthentic } from './refused-references.sql.ts';
import { tallyForged } from './webhook-figures.sql.ts';
import { countWebhooks } from './webhook-tallies.sql.ts';

/** An authentic delivery as it came; `digest` is SHA-256 of the raw body. */
export type WebhookDelivery = {
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

/** Kept among the headers of a delivery whose X-Webhook-Reference names something that its body does not. */
export const differsHeader = 'x-webhook-reference-differs';

/** Kept among the headers of a delivery: the fingerprint of the secret key that signed it (P31). */
export const signedWithHeader = 'x-webhook-signed-with';

/** How many refused deliveries are kept. */
const keptRejections = 1000n;

/**
 * Stores deliveries; byte-equal repeats become one row that counts its deliveries (P18). Returns the ids that are yet to
 * be applied. A fresh delivery of a body known only as stale turns it into a witness, so it is applied again. So is one
 * that came under another key: the repeat may bear the right one.
 */
export async function storeDeliveries(trx: Trx, deliveries: readonly WebhookDelivery[]): Promise<bigint[]> {
  const rows = oncePerDigest(deliveries);
  await tallyDiffering(trx, deliveries);
  await countWebhooks(trx, [{ what: 'received', n: deliveries.length }]);
  if (deliveries.length > 0) await noteAuthentic(trx);
  const unapplied: bigint[] = [];
  let from = 0;
  for (const { size, insert } of inserts)
    while (from + size <= rows.length) {
      const some = rows.slice(from, from + size);
      const stored = await insert(
        trx,
        some.flatMap((row) => columns.map((column) => row[column])),
      );
      for (const { id, applied_at } of stored) if (applied_at === null) unapplied.push(id);
      from += size;
    }
  return unapplied;
}

/** What X-Webhook-Reference named, where the body names something else; null where they agree or it was absent. */
export function differingReference(webhook: Pick<Webhook, 'headers'>): string | null {
  if (!webhook.headers.includes(`"${differsHeader}":`)) return null;
  const headers: Record<string, unknown> = JSON.parse(webhook.headers);
  const named = headers['x-webhook-reference'];
  return headers[differsHeader] === 'yes' && typeof named === 'string' ? named.trim() : null;
}

/** The fingerprint of the key that signed a webhook; null where it was not kept. */
export function signedWith(webhook: Pick<Webhook, 'headers'>): string | null {
  if (!webhook.headers.includes(`"${signedWithHeader}":`)) return null;
  const headers: Record<string, unknown> = JSON.parse(webhook.headers);
  const key = headers[signedWithHeader];
  return typeof key === 'string' ? key : null;
}

/** How many deliveries named another reference in their header than in their body. */
export async function countDiffering(db: Db): Promise<number> {
  const row = await db.selectFrom('tallies').select('n').where('name', '=', 'differing').executeTakeFirst();
  return Number(row?.n ?? 0n);
}

async function tallyDiffering(trx: Trx, deliveries: readonly WebhookDelivery[]): Promise<void> {
  const n = deliveries.filter((delivery) => differingReference(delivery) !== null).length;
  if (n === 0) return;
  await trx
    .insertInto('tallies')
    .values({ name: 'differing', n: BigInt(n) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ n: sql`tallies.n + excluded.n` }))
    .execute();
}

type StoredRow = { id: bigint; applied_at: string | null };
type NewRow = ReturnType<typeof oncePerDigest>[number];

const columns = [
  'digest',
  'received_at',
  'last_received_at',
  'deliveries',
  'kind',
  'reference',
  'trx',
  'headers',
  'body',
  'stale',
] as const satisfies readonly (keyof NewRow)[];

const insertOf = (size: number) =>
  prepared<StoredRow>((_, slot) => {
    const row = (at: number) => sql`(${sql.join(columns.map((_name, i) => slot(at * columns.length + i)))})`;
    return sql`insert into webhooks (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(Array.from({ length: size }, (_row, at) => row(at)))}
      on conflict (coalesce(reference, ''), digest) do update set
        deliveries = webhooks.deliveries + excluded.deliveries,
        last_received_at = excluded.last_received_at,
        applied_at = case when webhooks.stale > excluded.stale or webhooks.verdict = 'other_key' then null
          else webhooks.applied_at end,
        headers = case when webhooks.verdict = 'other_key' then excluded.headers else webhooks.headers end,
        stale = case when webhooks.stale < excluded.stale then webhooks.stale else excluded.stale end
      returning id, applied_at`;
  });

/** How many rows a statement stores, largest first: few sizes, so that each is built and prepared once. */
const inserts = [32, 8, 1].map((size) => ({ size, insert: insertOf(size) }));

function oncePerDigest(deliveries: readonly WebhookDelivery[]) {
  const groups = Map.groupBy(deliveries, ({ digest }) => digest);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const fresh = group.some((delivery) => !delivery.stale);
    return {
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
    };
  });
}

/** A delivery that was turned away: where it came from and why, without its body. */
export type Rejection = {
  at: string;
  path: string;
  kind: WebhookRejectionKind;
  detail: string;
  address: string;
};

/** Rejections that were counted and not kept one by one. */
export type RejectionCount = { path: string; kind: WebhookRejectionKind; count: number };

/** Records refused deliveries, and counts those that were too many to keep; deletes all but the newest thousand. */
export async function recordRejections(
  trx: Trx,
  rejections: readonly Rejection[],
  rest: readonly RejectionCount[] = [],
): Promise<void> {
  if (rejections.length === 0) return;
  const counts = [...rejections.map(({ path, kind }) => ({ path, kind, count: 1 })), ...rest];
  const forged = counts.filter(({ path, kind }) => path.startsWith('/webhooks/') && isForged(kind));
  await tallyForged(trx, sumOf(forged));
  await countWebhooks(
    trx,
    counts.map(({ kind, count }) => ({ what: `rejected:${kind}`, n: count })),
  );
  // The ids count all that were ever turned away: those that are not kept leave a gap.
  const before = (await newestRejection(trx)) + BigInt(sumOf(rest));
  const rows = rejections.map((rejection, at) => ({ id: before + BigInt(at + 1), ...rejection }));
  await trx.insertInto('rejections').values(rows).execute();
  const newest = before + BigInt(rows.length);
  await trx
    .deleteFrom('rejections')
    .where('id', '<=', newest - keptRejections)
    .execute();
}

function sumOf(counts: readonly RejectionCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** How many deliveries were ever turned away: ids count up, and the newest is never forgotten. */
export async function countRejections(db: Db): Promise<number> {
  return Number(await newestRejection(db));
}

async function newestRejection(db: Db | Trx): Promise<bigint> {
  const row = await db
    .selectFrom('rejections')
    .select((on) => on.fn.max<bigint | null>('id').as('newest'))
    .executeTakeFirst();
  return row?.newest ?? 0n;
}
