import type { CollectionData, WireDomain } from '../core/service/wire.ts';
import { feeFor, fromMinor, toMinor } from './amounts.ts';
import type { FaultFor } from './faults.ts';
import type { Now } from './sandbox-clock.ts';

/** Times without a zone are Lagos time: an hour ahead of UTC all year. */
const lagosMs = 3_600_000;

/**
 * A merchant's collections: money received, announced by webhook and confirmed by the verify endpoint. `announce` sends
 * the webhook.
 */
export function createCollections(deps: {
  now: Now;
  faultFor: FaultFor;
  announce: (collection: CollectionData) => void;
}) {
  const byReference = new Map<string, CollectionData>();
  let lastId = 70_000;

  /** The collection as its webhooks show it. */
  function find(mode: WireDomain, reference: string): CollectionData | undefined {
    return byReference.get(`${mode} ${reference}`);
  }

  return {
    /** Books a collection, filling in plausible values, and sends its signed webhook as its fault allows. */
    add(partial: Partial<CollectionData> = {}): CollectionData {
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
        paid_at: new Date(deps.now() + lagosMs).toISOString().slice(0, 19).replace('T', ' '),
        customerinfo: { customer_code: 'CUS_1', email: 'customer@example.com', status: 'active' },
        ...partial,
      };
      byReference.set(`${collection.domain} ${collection.reference}`, collection);
      deps.announce(collection);
      return collection;
    },
    /** Changes a booking and sends a webhook. Throws when there is no such collection. */
    change(mode: WireDomain, reference: string, patch: Partial<CollectionData>): CollectionData {
      const before = find(mode, reference);
      if (!before) throw new Error(`collections: expected the reference of a collection, got ${reference}`);
      const collection = { ...before, ...patch };
      byReference.set(`${mode} ${reference}`, collection);
      deps.announce(collection);
      return collection;
    },
    find,
    /** The collection as the verify endpoint shows it, which a fault may alter. */
    shown(mode: WireDomain, reference: string): CollectionData | undefined {
      const collection = find(mode, reference);
      if (!collection) return undefined;
      switch (deps.faultFor(reference)) {
        case 'vanish':
          return undefined;
        case 'never_settles':
          return { ...collection, status: 'pending' };
        case 'fail':
        case 'status_conflict':
          return { ...collection, status: 'failed' };
        case 'wrong_amount':
          return { ...collection, amount: fromMinor(toMinor(collection.amount) + 100n) };
        case 'wrong_currency':
          return { ...collection, currency: collection.currency === 'ZAR' ? 'NGN' : 'ZAR' };
        case 'wrong_domain':
          return { ...collection, domain: mode === 'test' ? 'live' : 'test' };
        default:
          return collection;
      }
    },
  };
}
