import type { CollectionData, WireDomain } from '../service/wire.ts';
import type { Now } from './clock.ts';
import { feeFor } from './money.ts';

/** The collections of a merchant: money received, told by webhook and confirmed by the verify endpoint. */
export type Collections = {
  /** A collection as given, completed with plausible values; its signed webhook goes out at once. */
  add(partial: Partial<CollectionData>): CollectionData;
  find(mode: WireDomain, reference: string): CollectionData | undefined;
};

/** No collections yet. `announce` sends the webhook. */
export function createCollections(deps: {
  now: Now;
  announce: (collection: CollectionData) => void;
}): Collections {
  const byReference = new Map<string, CollectionData>();
  let lastId = 70_000;
  return {
    add(partial) {
      lastId += 1;
      const currency = partial.currency ?? 'NGN';
      const amount = partial.amount ?? '1000.00';
      const collection: CollectionData = {
        id: lastId,
        business_id: 1,
        currency,
        amount,
        trx: `COL${lastId}`,
        reference: `COLLECTION-${lastId}`,
        channel: 'bank_transfer',
        type: 'collection',
        domain: 'test',
        fee: feeFor(currency, amount),
        requested_amount: amount,
        status: 'success',
        gateway: 'sandbox',
        paid_at: new Date(deps.now()).toISOString().slice(0, 19).replace('T', ' '),
        customerinfo: { customer_code: 'CUS_1', email: 'customer@example.com', status: 'active' },
        ...partial,
      };
      byReference.set(`${collection.domain} ${collection.reference}`, collection);
      deps.announce(collection);
      return collection;
    },
    find: (mode, reference) => byReference.get(`${mode} ${reference}`),
  };
}
