/** Why a look-up is on the list. */
export type InquiryReason =
  /** The outcome of an attempt is unknown. */
  | 'unknown'
  /** The answer before left the payout open. */
  | 'unsettled'
  /** A person, a brake or another stage wants to know. */
  | 'asked'
  | 'webhook_says'
  | 'webhook_stale'
  | 'webhook_without_status'
  | 'webhook_conflicts'
  /** The payout has the account, currency and amount of a webhook under another reference. */
  | 'webhook_alike'
  /** The X-Webhook-Reference of a webhook names another payout than its body. */
  | 'webhook_header'
  /** A webhook is about a payout that was not sent. */
  | 'webhook_unsent'
  /** A webhook is signed with another key than the payout was sent with (P31). */
  | 'webhook_other_key';

const webhookReasons: Record<InquiryReason, boolean> = {
  unknown: false,
  unsettled: false,
  asked: false,
  webhook_says: true,
  webhook_stale: true,
  webhook_without_status: true,
  webhook_conflicts: true,
  webhook_alike: true,
  webhook_header: true,
  webhook_unsent: true,
  webhook_other_key: true,
};

/** True for a question that a webhook raised: something may speak against what the ledger holds. */
export function isWebhookReason(reason: InquiryReason): boolean {
  return webhookReasons[reason];
}

/** Why a look-up is on the list, for people. */
export const inquiryReasonText: Record<InquiryReason, string> = {
  unknown: 'unknown outcome',
  unsettled: 'not settled yet',
  asked: 'asked',
  webhook_says: 'a webhook came',
  webhook_stale: 'a webhook with a stale timestamp',
  webhook_without_status: 'a webhook without a status',
  webhook_conflicts: 'a webhook that conflicts',
  webhook_alike: 'a webhook under another reference',
  webhook_header: 'a webhook whose X-Webhook-Reference names another',
  webhook_unsent: 'a webhook about what was not sent',
  webhook_other_key: 'a webhook signed with another key',
};
