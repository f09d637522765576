/** Why a delivery to the receiver was turned away; true for a signature that does not hold. */
const forged = {
  signature_missing: false,
  signature_wrong: true,
  merchant_signature_wrong: true,
  authorization_missing: false,
  authorization_wrong: false,
  /** It came to the address of the other mode. */
  other_mode: false,
  no_keys: false,
  source_address: false,
  compressed: false,
  too_large: false,
  no_request: false,
  /** There were too many different ones to tell them apart. */
  many: false,
};
export type WebhookRejectionKind = keyof typeof forged;

/** Every reason, for a counter that begins at zero. */
export const webhookRejectionKinds = Object.keys(forged);

export function isForged(kind: WebhookRejectionKind): boolean {
  return forged[kind];
}
