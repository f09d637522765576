import { feeFor } from './amounts.ts';
import type { FaultFor } from './faults.ts';
import type { Delivery } from './send-webhooks.ts';
import type { BookedTransfer } from './transfer.ts';
import { type EventPatch, payoutMessage } from './webhook-message.ts';

/** Tells the merchant of payouts, as truly as their faults allow. */
export type PayoutWebhooks = {
  /** After a change of status. */
  changed(transfer: BookedTransfer): void;
  /** On request of the merchant ("Resend webhooks"): once, now, as the transfer stands. */
  resend(transfer: BookedTransfer): void;
};

/** Payout webhooks over the delivery given; a late one comes `lateMs` after the change. */
export function createPayoutWebhooks(deps: {
  delivery: Delivery;
  faultFor: FaultFor;
  lateMs: number;
}): PayoutWebhooks {
  const { delivery, faultFor } = deps;

  function told(transfer: BookedTransfer): EventPatch {
    const fault = faultFor(transfer.reference);
    if (fault === 'status_conflict') return { statusMessage: 'success' };
    if (fault === 'wrong_fee') return { fee: feeFor(transfer.currency, transfer.amount) };
    return {};
  }

  return {
    changed(transfer) {
      const fault = faultFor(transfer.reference);
      if (fault === 'webhook_missing' || fault === 'webhook_never') return;
      const message = payoutMessage(transfer, told(transfer));
      delivery.send(message, fault === 'webhook_late' ? deps.lateMs : 0);
      if (fault === 'webhook_doubled') delivery.send(message);
      if (fault === 'webhook_forged') {
        const statusMessage = transfer.status === 'success' ? 'failed' : 'success';
        delivery.send(payoutMessage(transfer, { statusMessage }, true));
      }
    },
    resend(transfer) {
      if (faultFor(transfer.reference) === 'webhook_never') return;
      delivery.send(payoutMessage(transfer, told(transfer)));
    },
  };
}
