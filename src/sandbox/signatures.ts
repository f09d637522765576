import { createHmac } from 'node:crypto';
import type { SandboxKeys } from './keyring.ts';

/** HMAC-SHA512 as lowercase hexadecimal ("Initiate a bank transfer", signature rule). */
export function hmacSha512(key: string, message: string | Buffer): string {
  return createHmac('sha512', key).update(message).digest('hex');
}

/** The text that PHP's `json_encode` gives for the parameters in alphabetical order, with `/` and non-ASCII escaped. */
function phpJson(parameters: ReadonlyMap<string, unknown>): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1));
  const members = sorted.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return `{${members.join(',')}}`.replace(/[/\u0080-\uffff]/g, (character) =>
    character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * True when the signature is the digest of the raw body, or of the parameters sorted and serialised again: the rule can
 * be read both ways. `strict`: both must hold. The document names both keys, so either is accepted.
 */
export function isSigned(
  body: Buffer,
  parameters: ReadonlyMap<string, unknown>,
  signature: string,
  { keys, strict }: { keys: SandboxKeys; strict: boolean },
): boolean {
  const readings = [body, Buffer.from(phpJson(parameters))];
  const isDigest = (text: Buffer): boolean =>
    [keys.encryptionKey, keys.secretKey].some((key) => hmacSha512(key, text) === signature);
  return strict ? readings.every(isDigest) : readings.some(isDigest);
}
