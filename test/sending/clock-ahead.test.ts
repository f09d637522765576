import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLookUps } from '../../src/lookups/lookups.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { ServiceClient } from '../../src/service/types.ts';
import { addBatch, makeLedger, payoutById, type TestLedger } from '../support/ledger.ts';
import { clientOf, senderOf } from './setting.ts';

const year = 365 * 86_400_000;
let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  ledger = await makeLedger();
  sandbox = await createSandbox({ settleMs: 60_000 });
  client = clientOf(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

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
    await createLookUps({ ledger, clock: off(0), service: client, limiter, rules }).askNow([id]);
    expect(await payoutById(ledger, id)).toMatchObject({ state: 'pending', evidence: 'details' });
  },
);
