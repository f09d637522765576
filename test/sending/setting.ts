import type { ServiceAccount, Standpoint } from '../../src/core/domain/origin.ts';
import type { Mode } from '../../src/core/domain/payout.ts';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import { createServiceClient } from '../../src/core/service/client.ts';
import { createTransport } from '../../src/core/service/transport.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import type { Limiter } from '../../src/sending/permits.ts';
import { createSender } from '../../src/sending/send.ts';
import { createLookUps } from '../../src/watching/lookups/lookups.ts';

/** The real client of a local service, or of an address where nobody listens. */
export function clientOf(sandbox: Pick<Sandbox, 'url' | 'keys'>, timeoutMs = 2000): ServiceClient {
  const { secretKey, encryptionKey } = sandbox.keys.test;
  return createServiceClient({
    baseUrl: sandbox.url,
    secretKey,
    orderKey: secretKey,
    signingKey: encryptionKey,
    transport: createTransport({ origin: sandbox.url, timeoutMs, concurrency: 4 }),
    rules: { codes: {}, edgeRejections: [429] },
  });
}

/** Whoever sends in these tests. */
const anAccount: ServiceAccount = {
  own: { baseUrl: 'http://127.0.0.1', secretKey: 'aaaaaaaaaaaa', orderKey: 'aaaaaaaaaaaa' },
  secretKeys: ['aaaaaaaaaaaa'],
  orderKeys: ['aaaaaaaaaaaa'],
};

/** Where they send from; 0 as nothing that they write names it. */
export const here: Standpoint = { account: anAccount, originId: 0n };

/** A sender of the test mode without a rate limit. */
export function senderOf(
  ledger: Ledger,
  service: ServiceClient,
  more: {
    clock?: Clock;
    workerId?: string;
    concurrency?: number;
    sendDeadlineMs?: number;
    brakes?: Brakes;
    standpoint?: Standpoint;
    limiter?: Limiter;
  } = {},
) {
  const {
    clock = systemClock(),
    workerId = 'w-1',
    concurrency = 4,
    sendDeadlineMs = 5000,
    brakes = noBrakes,
    standpoint = here,
    limiter = { take: async () => undefined, atOnce: Number.POSITIVE_INFINITY },
  } = more;
  const mode: Mode = 'test';
  const rules = { mode, concurrency, sendDeadlineMs, haltAfterUnknown: 3, brakes };
  const lookUpRules = { mode, concurrency, quietPeriodMs: 86_400_000 };
  const lookUps = createLookUps({
    ...{ ledger, clock, service, limiter, workerId, standpoint },
    rules: lookUpRules,
  });
  const asking = { standpoint, askService: lookUps.askNow };
  return createSender({ ledger, clock, service, limiter, workerId, ...asking, rules });
}

/** R-1 to R-n. */
export const named = (n: number): string[] => Array.from({ length: n }, (_, i) => `R-${i + 1}`);
