/** Each reason why a look-up is on the list: for people, and whether a webhook raised it. */
const reasons = {
  /** The outcome of an attempt is unknown. */
  unknown: { text: 'unknown outcome', byWebhook: false },
  /** The answer before left the payout open. */
  unsettled: { text: 'not settled yet', byWebhook: false },
  /** A person, a brake or another stage wants to know. */
  asked: { text: 'asked', byWebhook: false },
  webhook_says: { text: 'a webhook came', byWebhook: true },
  webhook_stale: { text: 'a webhook with a stale timestamp', byWebhook: true },
  webhook_without_status: { text: 'a webhook without a status', byWebhook: true },
  webhook_conflicts: { text: 'a webhook that conflicts', byWebhook: true },
  /** The payout has the account, currency and amount of a webhook under another reference. */
  webhook_alike: { text: 'a webhook under another reference', byWebhook: true },
  /** The X-Webhook-Reference of a webhook names another payout than its body. */
  webhook_header: { text: 'a webhook whose X-Webhook-Reference names another', byWebhook: true },
  webhook_unsent: { text: 'a webhook about what was not sent', byWebhook: true },
  /** A webhook is signed with another key than the payout was sent with (P31). */
  webhook_other_key: { text: 'a webhook signed with another key', byWebhook: true },
};
export type InquiryReason = keyof typeof reasons;

/** True for a question that a webhook raised: something may speak against what the ledger holds. */
export function isWebhookReason(reason: InquiryReason): boolean {
  return reasons[reason].byWebhook;
}

export function inquiryReasonText(reason: InquiryReason): string {
  return reasons[reason].text;
}
