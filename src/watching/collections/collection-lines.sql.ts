import { decimalDifference } from '../../core/domain/discrepancy.ts';
import { kindsShownBy } from '../../core/domain/discrepancy-kinds.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { decimalToMinor, formatMinor } from '../../core/domain/money.ts';
import { keyset } from '../../core/storage/keyset.ts';
import type { Db } from '../../core/storage/ledger.ts';
import type {
  Collection,
  CollectionLookUp,
  ResendRequest,
} from '../../core/storage/tables/collection-tables.ts';
import type { Discrepancy, Webhook } from '../../core/storage/tables/tables.ts';
import { resendsOf } from '../lookups/resend-requests.sql.ts';

/** Rows of one page: few enough to keep memory flat, enough to cost little per row. */
const pageSize = 1000;

export type CollectionLine = {
  row: Collection;
  /** How often webhooks about it were delivered, repeats included. */
  deliveries: bigint;
  /** The amount that the verify endpoint shows as received, in plain decimal text; empty where it shows no success. */
  received: string;
  /** Received minus expected; empty where either is unknown. */
  difference: string;
};

/** Every collection in the order in which the ledger learned of them, a page at a time. */
export async function* collectionsInOrder(db: Db): AsyncGenerator<CollectionLine[]> {
  const pages = keyset<Collection & { deliveries: bigint | null }>(pageSize, (last) =>
    db
      .selectFrom('collections as c')
      .selectAll('c')
      .select((eb) =>
        eb
          .selectFrom('webhooks as w')
          .select((on) => on.fn.sum<bigint | null>('w.deliveries').as('n'))
          .whereRef('w.collection_id', '=', 'c.id')
          .as('deliveries'),
      )
      .where('c.id', '>', last?.id ?? 0n)
      .orderBy('c.id')
      .limit(pageSize)
      .execute(),
  );
  for await (const page of pages) yield page.map(({ deliveries, ...row }) => lineOf(row, deliveries ?? 0n));
}

function lineOf(row: Collection, deliveries: bigint): CollectionLine {
  const verifiedAmount = row.verified_status === 'success' ? (row.verified_amount ?? '') : '';
  const received = withDigits(verifiedAmount, row.verified_currency ?? row.expected_currency ?? '');
  const { expected_amount: amount, expected_currency: currency } = row;
  const comparable = amount !== null && currency !== null && (row.verified_currency ?? currency) === currency;
  const difference =
    comparable && received !== '' ? decimalDifference(received, formatMinor(amount, currency)) : '';
  return { row, deliveries, received, difference };
}

/** Writes the service's amount (`106`, `106.5`) with its currency's digits; unreadable text stays as it is. */
function withDigits(amount: string, currency: string): string {
  const minor = decimalToMinor(amount, currency);
  return minor === null ? amount : formatMinor(minor, currency);
}

export type CollectionStory = {
  collection: Collection;
  webhooks: Webhook[];
  lookups: CollectionLookUp[];
  resends: ResendRequest[];
  discrepancies: Discrepancy[];
};

/** The story of one collection; undefined for a reference that the ledger does not hold. */
export async function collectionStory(db: Db, reference: string): Promise<CollectionStory | undefined> {
  const collection = await db
    .selectFrom('collections')
    .selectAll()
    .where('reference_key', '=', foldReference(reference))
    .executeTakeFirst();
  if (!collection) return undefined;
  const { id } = collection;
  return {
    collection,
    webhooks: await db
      .selectFrom('webhooks')
      .selectAll()
      .where('collection_id', '=', id)
      .orderBy('id')
      .execute(),
    lookups: await db
      .selectFrom('collection_look_ups')
      .selectAll()
      .where('collection_id', '=', id)
      .orderBy('id')
      .execute(),
    resends: await resendsOf(db, { kind: 'transaction', id }),
    discrepancies: await db
      .selectFrom('discrepancies')
      .selectAll()
      .where('kind', 'in', kindsShownBy('collections'))
      .where('subject', '=', collection.reference)
      .orderBy('id')
      .execute(),
  };
}
