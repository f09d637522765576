import { afterEach } from 'vitest';
import { createServiceClient } from '../../../src/core/service/client.ts';
import { createTransport } from '../../../src/core/service/transport.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';

/** What each test of the file opened; closed after it, the last first. */
export const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The real client of this address, over the real transport. */
export function clientOf(url: string, timeoutMs: number): ServiceClient {
  const client = createServiceClient({
    baseUrl: url,
    secretKey: 'sk_test_x',
    orderKey: 'sk_test_x',
    signingKey: 'enc_x',
    transport: createTransport({ origin: url, timeoutMs, concurrency: 1 }),
    rules: { codes: {}, edgeRejections: [429] },
  });
  closers.push(() => client.close());
  return client;
}
