import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { stopText } from '../../src/words/stop-words.ts';
import { addBatch, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { clientOf, named, senderOf } from './setting.ts';

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

/** A ledger whose transactions take that long on the clock, before they have the lock or after they wrote. */
function slow(before: number, after: number): { ledger: TestLedger; clock: Clock } {
  const real = systemClock();
  let late = 0;
  const clock: Clock = {
    ...real,
    now: () => real.now() + late,
    monotonic: () => real.monotonic() + late,
  };
  const write: TestLedger['write'] = async (work) => {
    late += before;
    const done = await ledger.write(work);
    late += after;
    return done;
  };
  return { ledger: { ...ledger, write }, clock };
}

// On PostgreSQL other writes begin while a claim commits, and each moves the one clock of this test.
it.skipIf(onPostgres)(
  'P3: waiting for the commit of another process ages no intent: it begins with the lock',
  async () => {
    await addBatch(ledger, named(3));
    const { ledger: waiting, clock } = slow(6000, 0);
    const result = await senderOf(waiting, client, { clock }).run();
    expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 3, not_sent: 0 } });
  },
);

it('P8: a clock that is set back while the service asked for a pause does not make the pause longer', async () => {
  await addBatch(ledger, named(1));
  const real = systemClock();
  let back = 0;
  const now = (): number => real.now() - back;
  const clock: Clock = { ...real, now, iso: () => new Date(now()).toISOString() };
  const service: ServiceClient = {
    ...client,
    bankTransfer: async (...order) => {
      if (back > 0) return client.bankTransfer(...order);
      back = 3 * 3_600_000;
      return {
        kind: 'turned_away',
        retryAfterMs: 100,
        httpStatus: 429,
        code: null,
        message: 'slow',
        raw: '',
      };
    },
  };
  expect(await senderOf(ledger, service, { clock }).run()).toMatchObject({
    ended: 'drained',
    counts: { accepted: 1, turned_away: 1 },
  });
});

it('P3: a machine that stands still after every commit sends nothing, and the network is not blamed', async () => {
  await addBatch(ledger, named(3));
  const { ledger: still, clock } = slow(0, 6000);
  const result = await senderOf(still, client, { clock }).run();
  const detail = stopText(result);
  expect({ ...result, detail }).toMatchObject({
    ended: 'stuck',
    detail: expect.stringContaining('send_deadline_ms'),
  });
  expect(detail).not.toMatch(/could not be sent/);
  expect(sandbox.requests.posts).toBe(0);
  expect(await states(ledger)).toEqual({ 'R-1': 'ready', 'R-2': 'ready', 'R-3': 'ready' });
});

it('P3: one standstill that aged a whole group of intents does not end the run', async () => {
  await addBatch(ledger, named(12));
  const { ledger: still, clock } = slow(0, 0);
  let writes = 0;
  let late = 0;
  const once: Clock = { ...clock, now: () => clock.now() + late, monotonic: () => clock.monotonic() + late };
  const write: TestLedger['write'] = async (work) => {
    const done = await still.write(work);
    // The second turn is the first that claims for all its slots.
    if (++writes === 2) late += 6000;
    return done;
  };
  const result = await senderOf({ ...still, write }, client, { clock: once }).run();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 12, not_sent: 4 } });
  expect(named(12).map((reference) => sandbox.requests.bodies(reference))).toEqual(Array(12).fill(1));
});
