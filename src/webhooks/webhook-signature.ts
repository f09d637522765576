import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The keys that check a delivery; during a rotation several values verify. */
export type WebhookKeys = {
  secretKeys: readonly string[];
  publicKeys: readonly string[];
  webhookKeys: readonly string[];
};

/** The headers that authenticate a delivery; undefined where absent. */
export type WebhookProof = {
  payloadsignature: string | undefined;
  merchantsignature: string | undefined;
  authorization: string | undefined;
};

export type WebhookVerdict =
  | { kind: 'authentic'; authorization: 'valid' | 'unchecked' | 'absent' }
  | { kind: 'rejected'; reason: string };

/** Judges one delivery by its raw body and its headers. Never throws, whatever they hold. */
export type VerifyWebhook = (body: Uint8Array, proof: WebhookProof) => WebhookVerdict;

/**
 * Creates a verifier for one set of keys (service-interface.md, Authentication 5-6). `payloadsignature` over the raw
 * bytes decides. Authorization counts where a webhook key is configured. `merchantsignature`, a constant, must be right
 * if present. No check ends early, so that the time taken reveals nothing about a key.
 */
export function createWebhookVerifier(keys: WebhookKeys): VerifyWebhook {
  const merchant = keys.secretKeys.flatMap((key) =>
    keys.publicKeys.map((publicKey) => digestOf(publicKey, key)),
  );
  const tokens = keys.webhookKeys.map(sha256);
  return (body, proof) => {
    if (!proof.payloadsignature) return rejected('payloadsignature missing');
    const signed = isOneOf(
      keys.secretKeys.map((key) => digestOf(body, key)),
      proof.payloadsignature,
    );
    if (!signed) return rejected('payloadsignature wrong');
    // Without a public key the constant cannot be checked.
    if (proof.merchantsignature !== undefined && merchant.length > 0) {
      if (!isOneOf(merchant, proof.merchantsignature)) return rejected('merchantsignature wrong');
    }
    if (tokens.length === 0) {
      return { kind: 'authentic', authorization: proof.authorization === undefined ? 'absent' : 'unchecked' };
    }
    const token = /^bearer +(.+)$/i.exec(proof.authorization ?? '')?.[1];
    if (token === undefined) return rejected('authorization missing');
    return hasDigest(tokens, sha256(token))
      ? { kind: 'authentic', authorization: 'valid' }
      : rejected('authorization wrong');
  };
}

function rejected(reason: string): WebhookVerdict {
  return { kind: 'rejected', reason };
}

/** HMAC-SHA512, 64 bytes. */
function digestOf(message: Uint8Array | string, key: string): Buffer {
  return createHmac('sha512', key).update(message).digest();
}

/** Compares digests, not texts: timingSafeEqual throws on unequal lengths. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** True when the signature is one of the digests in hexadecimal. */
function isOneOf(digests: readonly Buffer[], signature: string): boolean {
  // Buffer.from(…, 'hex') would stop silently at the first character that is not a hex digit.
  return /^[0-9a-f]{128}$/i.test(signature) && hasDigest(digests, Buffer.from(signature, 'hex'));
}

function hasDigest(digests: readonly Buffer[], given: Buffer): boolean {
  return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
}
