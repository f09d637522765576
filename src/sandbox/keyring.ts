import type { WireDomain } from '../core/service/wire.ts';
import { createRandom, randomText } from './random.ts';

/** The credentials of one mode ("Authentication"); the webhook key is optional, as it is for a merchant. */
export type SandboxKeys = {
  secretKey: string;
  publicKey: string;
  encryptionKey: string;
  webhookKey?: string;
};

export type SandboxModes = { test: SandboxKeys; live?: SandboxKeys };

export type SandboxCaller = { mode: WireDomain; keys: SandboxKeys; by: 'secret' | 'encryption' };

/** Test keys that look like a merchant's; the same seed makes the same keys. */
export function makeTestKeys(seed: number): SandboxKeys {
  const random = createRandom(seed);
  const text = (): string => randomText(random, 32, '0123456789abcdef');
  return {
    secretKey: `sk_test_${text()}`,
    publicKey: `pk_test_${text()}`,
    encryptionKey: `enc_test_${text()}`,
  };
}

/** Finds the caller of a Bearer token; undefined when no key matches. */
export function createKeyring(modes: SandboxModes): (token: string) => SandboxCaller | undefined {
  const callers = new Map<string, SandboxCaller>();
  const add = (mode: WireDomain, keys: SandboxKeys): void => {
    callers.set(keys.encryptionKey, { mode, keys, by: 'encryption' });
    // Set last: where both keys are equal, the token counts as the secret key.
    callers.set(keys.secretKey, { mode, keys, by: 'secret' });
  };
  if (modes.live !== undefined) add('live', modes.live);
  add('test', modes.test);
  return (token) => callers.get(token);
}
