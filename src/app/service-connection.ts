import { join } from 'node:path';
import type { Account } from '../domain/origin.ts';
import { createRedactor } from '../domain/redact.ts';
import { createServiceClient } from '../service/client.ts';
import { chooseKey } from '../service/signing.ts';
import { createTransport, type Transport } from '../service/transport.ts';
import type { ServiceClient } from '../service/types.ts';
import { type Config, secretsOf } from '../settings/settings.ts';
import { accountIn } from './looking.ts';

/** The mode asked for has no secret key; the message says where to put it. */
class MissingKeys extends Error {
  readonly code = 'MISSING_KEYS';
}

type ServiceKeys = { secretKey: string; encryptionKey: string | undefined; account: Account };

export function serviceKeys(config: Config): ServiceKeys {
  const keys = config.keys[config.mode];
  const secretKey = keys?.secretKeys[0];
  const name = `COUNTERFOIL_${config.mode.toUpperCase()}`;
  const account = accountIn(config);
  if (!secretKey || !account)
    throw new MissingKeys(`no ${config.mode} key: set ${name}_SECRET_KEY in ${join(config.home, '.env')}`);
  const encryptionKey = keys?.encryptionKeys[0];
  const { authorizationKey, signatureKey } = config.service;
  if (!encryptionKey && (authorizationKey === 'encryption' || signatureKey === 'encryption')) {
    throw new MissingKeys(
      `the configuration asks for the encryption key: set ${name}_ENCRYPTION_KEY in ${join(config.home, '.env')}`,
    );
  }
  return { secretKey, encryptionKey, account };
}

/** A connection to the service alone, without a ledger. Throws MissingKeys. */
export function connectService(config: Config): ServiceClient {
  return openService(config, serviceKeys(config), {});
}

export function openService(
  config: Config,
  keys: Pick<ServiceKeys, 'secretKey' | 'encryptionKey'>,
  wire: { transport?: Transport | undefined; permit?: () => Promise<void> },
): ServiceClient {
  const { authorizationKey, signatureKey, baseUrl, timeoutMs, concurrency, codes, edgeRejections } =
    config.service;
  return createServiceClient({
    baseUrl,
    transport:
      wire.transport ??
      createTransport({
        origin: new URL(baseUrl).origin,
        timeoutMs,
        concurrency,
        ...(wire.permit && { permit: wire.permit }),
      }),
    secretKey: keys.secretKey,
    orderKey: chooseKey(authorizationKey, keys),
    signingKey: chooseKey(signatureKey, keys),
    rules: { codes, edgeRejections },
    redact: createRedactor(secretsOf(config)),
  });
}
