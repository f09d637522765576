import { feeFor } from './amounts.ts';
import type { FaultFor } from './faults.ts';
import type { Delivery } from './send-webhooks.ts';
import type { BookedTransfer } from './transfer.ts';
import { type EventPatch, payoutMessage } from './webhook-message.ts';

/** Sends payout webhooks to the merchant, as far as the faults allow. */
export type PayoutWebhooks = {
  /** Call after a change of status. */
  changed(transfer: BookedTransfer): void;
  /** Sends one webhook now with the transfer's present state, at the merchant's request ("Resend webhooks"). */
  resend(transfer: BookedTransfer): void;
};

/** Payout webhooks over the given delivery; a late one comes `lateMs` after the change. */
export function createPayoutWebhooks(deps: {
  delivery: Delivery;
  faultFor: FaultFor;
  lateMs: number;
}): PayoutWebhooks {
  const { delivery, faultFor } = deps;

  function patchFor(transfer: BookedTransfer): EventPatch {
    const fault = faultFor(transfer.reference);
    if (fault === 'status_conflict') return { statusMessage: 'success' };
    if (fault === 'wrong_fee') return { fee: feeFor(transfer.currency, transfer.amount) };
    return {};
  }

  return {
    changed(transfer) {
      const fault = faultFor(transfer.reference);
      if (fault === 'webhook_missing' || fault === 'webhook_never') return;
      const message = payoutMessage(transfer, patchFor(transfer));
      delivery.send(message, fault === 'webhook_late' ? deps.lateMs : 0);
      if (fault === 'webhook_doubled') delivery.send(message);
      if (fault === 'webhook_forged') {
        const statusMessage = transfer.status === 'success' ? 'failed' : 'success';
        delivery.send(payoutMessage(transfer, { statusMessage }, true));
      }
    },
    resend(transfer) {
      if (faultFor(transfer.reference) === 'webhook_never') return;
      delivery.send(payoutMessage(transfer, patchFor(transfer)));
    },
  };
}
