import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createLookUps } from '../../src/watching/lookups/lookups.ts';
import { addBatch, payoutById } from '../support/ledger.ts';
import { client, ledger, withService } from '../watching/lookups/with-service.ts';
import { senderOf } from './setting.ts';

const year = 365 * 86_400_000;
withService();

/** The service takes every payout; its answer is lost on the way. */
const losing = (): ServiceClient => ({
  ...client,
  bankTransfer: async (...order) => {
    await client.bankTransfer(...order);
    return { kind: 'unknown', code: null, httpStatus: null, message: 'no answer', raw: '', halts: false };
  },
});

/** The machine's clock, off by so many milliseconds. */
function off(ms: number): Clock {
  const real = systemClock();
  const now = (): number => real.now() + ms;
  return { ...real, now, iso: () => new Date(now()).toISOString() };
}

it.each([year, 3_600_000])(
  'P15, P33: what was sent by a clock %i ms ahead, and got no answer, is still known as ours by its details',
  async (ms) => {
    const [id = 0n] = await addBatch(ledger, ['R-1']);
    await client.listPage(1);
    await senderOf(ledger, losing(), { clock: off(ms) }).run();
    expect((await payoutById(ledger, id)).state).toBe('unknown');
    const limiter = { take: async () => undefined };
    const rules = { concurrency: 1, quietPeriodMs: 0 };
    await createLookUps({ ledger, clock: off(0), service: client, limiter, workerId: 'w-1', rules }).askNow([
      id,
    ]);
    const { state, evidence } = await payoutById(ledger, id);
    expect(evidence).toBe('details');
    // On a slow machine the service has settled it by now.
    expect(['pending', 'success']).toContain(state);
  },
);
