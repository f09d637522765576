/** Why a delivery to the receiver was turned away. */
export type RejectionKind =
  | 'signature_missing'
  | 'signature_wrong'
  | 'merchant_signature_wrong'
  | 'authorization_missing'
  | 'authorization_wrong'
  /** It came to the address of the other mode. */
  | 'other_mode'
  | 'no_keys'
  | 'source_address'
  | 'compressed'
  | 'too_large'
  | 'no_request'
  /** There were too many different ones to tell them apart. */
  | 'many';

const forged: Record<RejectionKind, boolean> = {
  signature_missing: false,
  signature_wrong: true,
  merchant_signature_wrong: true,
  authorization_missing: false,
  authorization_wrong: false,
  other_mode: false,
  no_keys: false,
  source_address: false,
  compressed: false,
  too_large: false,
  no_request: false,
  many: false,
};

/** Every reason, for a counter that begins at zero. */
export const rejectionKinds = Object.keys(forged);

/** True for a signature that does not hold. */
export function isForged(kind: RejectionKind): boolean {
  return forged[kind];
}
