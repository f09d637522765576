import type { CollectionData } from '../service/wire.ts';
import type { FaultFor } from './faults.ts';
import type { Delivery } from './send-webhooks.ts';
import { collectionMessage } from './webhook-message.ts';

/** Sends collection webhooks to the merchant, as far as the faults allow. */
export type CollectionWebhooks = {
  /** Call when money arrived, or when the booking changed. */
  changed(collection: CollectionData): void;
  /** Sends one webhook now with the collection's present state, at the merchant's request ("Resend webhooks"). */
  resend(collection: CollectionData): void;
};

/** Collection webhooks over the given delivery; a late one comes `lateMs` after the change. */
export function createCollectionWebhooks(deps: {
  delivery: Delivery;
  faultFor: FaultFor;
  lateMs: number;
}): CollectionWebhooks {
  const { delivery, faultFor } = deps;
  return {
    changed(collection) {
      const fault = faultFor(collection.reference);
      if (fault === 'webhook_missing' || fault === 'webhook_never') return;
      const message = collectionMessage(collection);
      delivery.send(message, fault === 'webhook_late' ? deps.lateMs : 0);
      if (fault === 'webhook_doubled') delivery.send(message);
      if (fault === 'webhook_forged') delivery.send({ ...message, forged: true });
    },
    resend(collection) {
      if (faultFor(collection.reference) !== 'webhook_never') delivery.send(collectionMessage(collection));
    },
  };
}
