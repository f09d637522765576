import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** The keys a delivery is checked with; several values verify while one is being rotated. */
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

/**
 * Judges a delivery (service-interface.md, Authentication 5-6): `payloadsignature` over the raw bytes decides;
 * Authorization counts where a webhook key is configured; `merchantsignature`, a constant, must be right if present.
 */
export function verifyWebhook(body: Uint8Array, proof: WebhookProof, keys: WebhookKeys): WebhookVerdict {
  const rejected = (reason: string): WebhookVerdict => ({ kind: 'rejected', reason });
  if (!proof.payloadsignature) return rejected('payloadsignature missing');
  if (!isSigned(body, proof.payloadsignature, keys.secretKeys)) return rejected('payloadsignature wrong');
  if (proof.merchantsignature !== undefined && keys.publicKeys.length > 0) {
    const { merchantsignature } = proof;
    const right = keys.publicKeys.some((publicKey) =>
      isSigned(publicKey, merchantsignature, keys.secretKeys),
    );
    if (!right) return rejected('merchantsignature wrong');
  }
  if (keys.webhookKeys.length === 0) {
    return { kind: 'authentic', authorization: proof.authorization === undefined ? 'absent' : 'unchecked' };
  }
  const token = /^bearer +(.+)$/i.exec(proof.authorization ?? '')?.[1];
  if (token === undefined) return rejected('authorization missing');
  // No early exit: the time taken says nothing about which key came close.
  const right = keys.webhookKeys.filter((key) => sameText(key, token)).length > 0;
  return right ? { kind: 'authentic', authorization: 'valid' } : rejected('authorization wrong');
}

/** True when `signature` is the hexadecimal HMAC-SHA512 of the message under one of the keys. */
function isSigned(message: Uint8Array | string, signature: string, keys: readonly string[]): boolean {
  // Buffer.from(…, 'hex') would cut off silently at the first character that is no digit.
  if (!/^[0-9a-f]{128}$/i.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  return (
    keys.filter((key) => timingSafeEqual(createHmac('sha512', key).update(message).digest(), given)).length >
    0
  );
}

/** Digests first, since timingSafeEqual throws on unequal lengths. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
