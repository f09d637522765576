import { createHmac } from 'node:crypto';

/** The Signature header of a bank transfer: HMAC-SHA512 of the body text, lowercase hex (endpoint 3, Signature rule). */
export function signBody(body: string, key: string): string {
  return createHmac('sha512', key).update(body, 'utf8').digest('hex');
}

/** Which of a mode's keys. */
export type KeyName = 'secret' | 'encryption';

export type KeyChoice = { secretKey: string; encryptionKey: string | undefined };

/**
 * Which key signs. The document names both; `auto` takes the encryption key where one is set, else the secret key.
 * Throws when `encryption` is asked for and none is set: the configuration should have refused that.
 */
export function chooseKey(choice: 'secret' | 'encryption' | 'auto', keys: KeyChoice): string {
  if (keyNameOf(choice, Boolean(keys.encryptionKey)) === 'secret') return keys.secretKey;
  if (keys.encryptionKey) return keys.encryptionKey;
  throw new Error('an encryption key was asked for and none is configured');
}

/** The same choice by name, for who must not see a value. */
export function keyNameOf(choice: 'secret' | 'encryption' | 'auto', hasEncryption: boolean): KeyName {
  if (choice !== 'auto') return choice;
  return hasEncryption ? 'encryption' : 'secret';
}
