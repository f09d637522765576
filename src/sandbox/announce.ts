import type { CollectionData } from '../core/service/wire.ts';
import { feeFor } from './amounts.ts';
import type { FaultFor } from './faults.ts';
import type { WebhookSender } from './send-webhooks.ts';
import type { BookedTransfer } from './transfer.ts';
import { collectionMessage, type EventPatch, payoutMessage, type WebhookMessage } from './webhook-message.ts';

type Deps = { delivery: WebhookSender; faultFor: FaultFor; lateMs: number };

/** Sends the webhooks of one kind of thing, as far as its faults allow; a late one comes `lateMs` after the change. */
function createWebhooks<Thing extends { reference: string }>(
  { delivery, faultFor, lateMs }: Deps,
  messageOf: (thing: Thing) => WebhookMessage,
  forgedOf: (thing: Thing) => WebhookMessage,
) {
  return {
    /** Call after a change of the status or the booking. */
    changed(thing: Thing): void {
      const fault = faultFor(thing.reference);
      if (fault === 'webhook_missing' || fault === 'webhook_never') return;
      const message = messageOf(thing);
      delivery.send(message, fault === 'webhook_late' ? lateMs : 0);
      if (fault === 'webhook_doubled') delivery.send(message);
      if (fault === 'webhook_forged') delivery.send(forgedOf(thing));
    },
    /** Sends one webhook now with the present state, at the merchant's request ("Resend webhooks"). */
    resend(thing: Thing): void {
      if (faultFor(thing.reference) !== 'webhook_never') delivery.send(messageOf(thing));
    },
  };
}

/** Payout webhooks. A forged one says another status. */
export function createPayoutWebhooks(deps: Deps) {
  const patchFor = (transfer: BookedTransfer): EventPatch => {
    const fault = deps.faultFor(transfer.reference);
    if (fault === 'status_conflict') return { statusMessage: 'success' };
    return fault === 'wrong_fee' ? { fee: feeFor(transfer.currency, transfer.amount) } : {};
  };
  return createWebhooks<BookedTransfer>(
    deps,
    (transfer) => payoutMessage(transfer, patchFor(transfer)),
    (transfer) => {
      const statusMessage = transfer.status === 'success' ? 'failed' : 'success';
      return payoutMessage(transfer, { statusMessage }, true);
    },
  );
}

export function createCollectionWebhooks(deps: Deps) {
  return createWebhooks<CollectionData>(deps, collectionMessage, (collection) => {
    return { ...collectionMessage(collection), forged: true };
  });
}

export type PayoutWebhooks = ReturnType<typeof createPayoutWebhooks>;
export type CollectionWebhooks = ReturnType<typeof createCollectionWebhooks>;
