import { createHmac } from 'node:crypto';

/** The Signature header of a bank transfer: HMAC-SHA512 of the body text, lowercase hex (endpoint 3, Signature rule). */
export function signBody(body: string, key: string): string {
  return createHmac('sha512', key).update(body, 'utf8').digest('hex');
}

/** Names one of a mode's keys. */
export type KeyName = 'secret' | 'encryption';

export type KeyChoice = { secretKey: string; encryptionKey: string | undefined };

/**
 * Returns the key that signs. The interface document names both: `auto` takes the encryption key if one is set, else
 * the secret key. Throws when the choice is `encryption` and none is set; the configuration check should have refused
 * that.
 */
export function chooseKey(choice: 'secret' | 'encryption' | 'auto', keys: KeyChoice): string {
  if (keyNameOf(choice, Boolean(keys.encryptionKey)) === 'secret') return keys.secretKey;
  if (keys.encryptionKey) return keys.encryptionKey;
  throw new Error('the configuration asks for an encryption key, and none is set');
}

/** The same choice as a name, without a key's value. */
export function keyNameOf(choice: 'secret' | 'encryption' | 'auto', hasEncryption: boolean): KeyName {
  if (choice !== 'auto') return choice;
  return hasEncryption ? 'encryption' : 'secret';
}
