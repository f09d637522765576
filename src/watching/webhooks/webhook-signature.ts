import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { fingerprint } from '../../core/domain/origin.ts';
import type { WebhookRejectionKind } from '../../core/domain/rejection.ts';

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

export type SignatureResult =
  /** `signedWith`: the fingerprint of the secret key. */
  | { kind: 'authentic'; authorization: 'valid' | 'unchecked' | 'absent'; signedWith: string }
  | { kind: 'rejected'; why: WebhookRejectionKind };

/** Judges one delivery by its raw body and its headers. Never throws, whatever they hold. */
export type VerifyWebhook = (body: Uint8Array, proof: WebhookProof) => SignatureResult;

/**
 * Creates a verifier for one set of keys. `payloadsignature` over the raw bytes decides. Authorization counts where a
 * webhook key is configured. `merchantsignature`, a constant, must be right if present. No check ends early, so that the
 * time taken reveals nothing about a key.
 */
export function createWebhookVerifier(keys: WebhookKeys): VerifyWebhook {
  const merchant = keys.secretKeys.flatMap((key) =>
    keys.publicKeys.map((publicKey) => digestOf(publicKey, key)),
  );
  const tokens = keys.webhookKeys.map(sha256);
  const names = keys.secretKeys.map(fingerprint);
  return (body, proof) => {
    if (!proof.payloadsignature) return rejected('signature_missing');
    const digests = keys.secretKeys.map((key) => digestOf(body, key));
    const signedWith = names[placeOf(digests, proof.payloadsignature)];
    if (signedWith === undefined) return rejected('signature_wrong');
    // Without a public key there is nothing to hold the constant against.
    if (proof.merchantsignature !== undefined && merchant.length > 0) {
      if (placeOf(merchant, proof.merchantsignature) < 0) return rejected('merchant_signature_wrong');
    }
    if (tokens.length === 0) {
      const authorization = proof.authorization === undefined ? 'absent' : 'unchecked';
      return { kind: 'authentic', authorization, signedWith };
    }
    const token = /^bearer +(.+)$/i.exec(proof.authorization ?? '')?.[1];
    if (token === undefined) return rejected('authorization_missing');
    return hasDigest(tokens, sha256(token))
      ? { kind: 'authentic', authorization: 'valid', signedWith }
      : rejected('authorization_wrong');
  };
}

function rejected(why: WebhookRejectionKind): SignatureResult {
  return { kind: 'rejected', why };
}

/** HMAC-SHA512, 64 bytes. */
function digestOf(message: Uint8Array | string, key: string): Buffer {
  return createHmac('sha512', key).update(message).digest();
}

/** Compares digests, not texts: timingSafeEqual throws on unequal lengths. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** The place of the digest that the signature is, in hexadecimal; -1 for none. */
function placeOf(digests: readonly Buffer[], signature: string): number {
  // Buffer.from(…, 'hex') would stop silently at the first character that is not a hex digit.
  if (!/^[0-9a-f]{128}$/i.test(signature)) return -1;
  const given = Buffer.from(signature, 'hex');
  return digests.map((digest) => timingSafeEqual(digest, given)).indexOf(true);
}

function hasDigest(digests: readonly Buffer[], given: Buffer): boolean {
  return digests.filter((digest) => timingSafeEqual(digest, given)).length > 0;
}
