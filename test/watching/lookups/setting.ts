import { createHash } from 'node:crypto';
import type { Standpoint } from '../../../src/core/domain/origin.ts';
import { type Clock, systemClock } from '../../../src/core/runtime/clock.ts';
import type { ServiceClient, ServiceTrouble } from '../../../src/core/service/types.ts';
import { createLookUps } from '../../../src/watching/lookups/lookups.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { at, type TestLedger } from '../../support/ledger.ts';

/** A clock that stands still at so many milliseconds after the ledger's birth until it is moved. */
export function handClock(): Clock & { set(ms: number): void } {
  let now = 0;
  const wall = () => Date.parse(at(now));
  return { ...systemClock(), now: wall, iso: () => at(now), monotonic: () => now, set: (ms) => (now = ms) };
}

/** The answer of a service without a list. */
const noList: ServiceTrouble = {
  kind: 'trouble',
  reason: 'unreachable',
  message: 'no list here',
  httpStatus: null,
  retryAfterMs: null,
};

/** Look-ups of the test mode with a quiet period of a day. */
export function lookUpsOf(
  ledger: TestLedger,
  clock: Clock,
  service: Pick<ServiceClient, 'fetchTransferDetails'> & Partial<Pick<ServiceClient, 'listPage'>>,
  more: { probe?: boolean; quietPeriodMs?: number; workerId?: string; standpoint?: Standpoint } = {},
) {
  const { workerId = 'w-1', standpoint, ...other } = more;
  const rules = { concurrency: 2, quietPeriodMs: 86_400_000, ...other };
  const asked = { listPage: async () => noList, ...service };
  const limiter = { take: async () => undefined };
  return createLookUps({
    ...{ ledger, clock, limiter, workerId, rules },
    service: asked,
    ...(standpoint && { standpoint }),
  });
}

/** Stores one authentic delivery about R-1 as the receiver does. */
export function deliver(
  ledger: TestLedger,
  patch: Record<string, unknown> = {},
  stale = false,
): Promise<bigint[]> {
  const event = { event: 'payout', status: '00', reference: 'R-1', statusMessage: 'success', trx: 'TRX1' };
  const money = { amount: '1500.00', currency: 'NGN', account_number: '0123456789', bank_code: '000013' };
  const shown = { ...event, ...money, domain: 'test', ...patch };
  const body = Buffer.from(JSON.stringify(shown));
  const digest = createHash('sha256').update(body).digest('hex');
  const row = {
    digest,
    receivedAt: at(5),
    kind: 'payout' as const,
    headers: '{}',
    body,
    stale,
  };
  return ledger.write((trx) =>
    storeDeliveries(trx, [{ ...row, reference: String(shown.reference), trx: String(shown.trx) }]),
  );
}
