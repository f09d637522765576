import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClearanceAnswer } from '../../src/core/domain/clearance.ts';
import { recordStandpoint } from '../../src/core/ledger/origins.ts';
import { type Clock, momentOf, systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { claim } from '../../src/sending/claims.sql.ts';
import { createClearances } from '../../src/sending/clearances.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { stopText } from '../../src/words/stop-words.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { clientOf, here, named, senderOf } from './setting.ts';

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

/** R-1 to R-n, each sent once and turned away. */
async function turnedAway(count: number): Promise<bigint[]> {
  const ids = await addBatch(ledger, named(count));
  for (const one of await claimAt(ledger, at(0), count))
    await recordOutcome(ledger, at(0), one, replies.turnedAway());
  return ids;
}

/** A clock of which each hand is set apart. */
function handsOf(): Clock & { wall: number; passed: number } {
  const hands = { wall: Date.parse(at(1000)), passed: 0 };
  return {
    ...systemClock(),
    get wall() {
      return hands.wall;
    },
    set wall(ms) {
      hands.wall = ms;
    },
    get passed() {
      return hands.passed;
    },
    set passed(ms) {
      hands.passed = ms;
    },
    now: () => hands.wall,
    iso: () => new Date(hands.wall).toISOString(),
    monotonic: () => hands.passed,
    sleep: async (ms) => {
      hands.passed += ms;
      hands.wall += ms;
    },
  };
}

function clearancesOf(
  clock: Clock,
  answer: ClearanceAnswer,
  asked: bigint[] = [],
  beforeWeighed: () => Promise<void> = async () => undefined,
) {
  const under = () => ({ brakes: noBrakes, at: clock.iso() });
  const askService = async (ids: readonly bigint[]) => {
    asked.push(...ids);
    const answers = new Map(ids.map((id) => [id, { ...answer, askedAt: momentOf(clock) }]));
    await beforeWeighed();
    return answers;
  };
  const deps = { ledger, clock, account: here.account, askService, concurrency: 4, under };
  return createClearances(deps, { scope: undefined, signal: undefined });
}
const notFound: ClearanceAnswer = { word: 'not_found', status: null };
const silence: ClearanceAnswer = { word: 'no_answer', status: null };

it('P31: an answer is good for two minutes of the monotonic clock, and then is asked for again', async () => {
  const [id = 0n] = await turnedAway(1);
  const clock = handsOf();
  const asked: bigint[] = [];
  const clearances = clearancesOf(clock, notFound, asked);
  await clearances.fill(1);
  expect([...clearances.fresh()]).toEqual([[id, 1n]]);
  clock.passed = 119_999;
  expect([...clearances.fresh().keys()]).toEqual([id]);
  clock.passed = 120_000;
  expect([...clearances.fresh()]).toEqual([]);
  await clearances.fill(1);
  expect([...clearances.fresh().keys()]).toEqual([id]);
  expect(asked).toEqual([id, id]);
});

it('P31, P33: a wall clock that steps makes an old answer no fresher', async () => {
  const [id = 0n] = await turnedAway(1);
  const clock = handsOf();
  const clearances = clearancesOf(clock, notFound);
  await clearances.fill(1);
  clock.wall -= 30_000;
  expect([...clearances.fresh().keys()]).toEqual([id]);
  clock.passed = 120_001;
  expect([...clearances.fresh()]).toEqual([]);
});

it('P31: a machine that slept for three days, in which its monotonic clock stood still, asks again', async () => {
  const [id = 0n] = await turnedAway(1);
  const clock = handsOf();
  const asked: bigint[] = [];
  const clearances = clearancesOf(clock, notFound, asked);
  await clearances.fill(1);
  clock.wall += 3 * 86_400_000;
  clock.passed += 1000;
  expect([...clearances.fresh()]).toEqual([]);
  await clearances.fill(1);
  expect([...clearances.fresh().keys()]).toEqual([id]);
  expect(asked).toEqual([id, id]);
});

it('P31: an answer given before another process sent the payout again allows nothing, though it is weighed later', async () => {
  const [id = 0n] = await turnedAway(1);
  const clock = handsOf();
  const clearances = clearancesOf(clock, notFound, [], async () => {
    const [other] = await claimAt(ledger, at(10), 1, 'w-2');
    if (!other) throw new Error('nothing was claimed');
    await recordOutcome(ledger, at(11), other, replies.turnedAway());
  });
  await clearances.fill(1);
  const by = { workerId: 'w-1', limit: 9, at: at(20), brakes: noBrakes, originId: 0n };
  expect(await ledger.write((trx) => claim(trx, { ...by, cleared: clearances.fresh() }))).toEqual([]);
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'ready', attempt_count: 2n });
});

it('P31: a process that died between the answer and the claim leaves nothing that another may send by', async () => {
  await turnedAway(1);
  const clock = handsOf();
  const dying = clearancesOf(clock, notFound);
  await dying.fill(1);
  expect(dying.fresh().size).toBe(1);
  const next = clearancesOf(clock, notFound);
  const request = {
    workerId: 'w-2',
    limit: 9,
    at: at(2000),
    brakes: noBrakes,
    originId: 0n,
  };
  expect(await ledger.write((trx) => claim(trx, { ...request, cleared: next.fresh() }))).toEqual([]);
});

it('P31: an answer about an earlier attempt allows no other once the payout was sent again meanwhile', async () => {
  const [id = 0n] = await turnedAway(1);
  const clearances = clearancesOf(handsOf(), notFound);
  await clearances.fill(1);
  const [other] = await claimAt(ledger, at(10), 1, 'w-2');
  if (!other) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(11), other, replies.turnedAway());
  const request = {
    workerId: 'w-1',
    limit: 9,
    at: at(20),
    brakes: noBrakes,
    originId: 0n,
  };
  expect(await ledger.write((trx) => claim(trx, { ...request, cleared: clearances.fresh() }))).toEqual([]);
  expect((await payoutById(ledger, id)).state).toBe('ready');
});

it('P31: without an answer nothing is sent, the payout stays ready, and the run says so and ends', async () => {
  await turnedAway(2);
  const mute: ServiceClient = {
    ...client,
    fetchTransferDetails: async () => ({
      kind: 'trouble',
      reason: 'unreachable',
      message: 'no route',
      httpStatus: null,
      retryAfterMs: null,
    }),
  };
  const result = await senderOf(ledger, mute, { clock: handsOf() }).run();
  expect({ ...result, detail: stopText(result) }).toMatchObject({
    ended: 'stuck',
    detail: expect.stringMatching(/needs a clear answer of the service first: 2 of 2 got none \(R-1, R-2\)$/),
    advice: { kind: 'unanswered', reference: 'R-1' },
  });
  expect(sandbox.requests.posts).toBe(0);
  expect(await states(ledger)).toEqual({ 'R-1': 'ready', 'R-2': 'ready' });
});

it('P21, P31: where one waits for an answer and the rest for the next day, the run says so and ends at once', async () => {
  const [away = 0n, , large = 0n] = await addBatch(ledger, named(3));
  const amountOf = (id: bigint, amount: bigint) =>
    ledger.db.updateTable('payouts').set({ amount }).where('id', '=', id).execute();
  await amountOf(away, 100_000n);
  await amountOf(large, 200_000n);
  const brakes = { ...noBrakes, dailyLimit: { NGN: '3000.00' } };
  const [one, two] = await claimAt(ledger, at(0), 2, 'w-1', brakes);
  if (!one || !two) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(0), one, replies.turnedAway());
  await recordOutcome(ledger, at(0), two, replies.accepted());
  const mute: ServiceClient = {
    ...client,
    fetchTransferDetails: async () => ({
      kind: 'trouble',
      reason: 'server_error',
      message: 'HTTP 500',
      httpStatus: 500,
      retryAfterMs: null,
    }),
  };
  const clock = handsOf();
  const result = await senderOf(ledger, mute, { clock, brakes }).run();
  expect({ ...result, detail: stopText(result) }).toMatchObject({
    ended: 'stuck',
    detail: expect.stringMatching(/needs a clear answer of the service first: 1 of 1 got none \(R-1\)$/),
  });
  expect(clock.passed).toBeLessThan(30_000);
  expect(await createBrakes({ ledger, clock, brakes }).waits()).toMatchObject([
    { kind: 'daily_limit', currency: 'NGN', count: 1, amount: '2000.00' },
  ]);
});

it('P31: a service that answers nothing is not asked about everything that waits', async () => {
  await turnedAway(40);
  const asked: bigint[] = [];
  const clock = handsOf();
  const clearances = clearancesOf(clock, silence, asked);
  for (let i = 0; i < 100; i++) {
    await clearances.fill(8);
    clock.passed += 1000;
  }
  expect(asked.length).toBeLessThanOrEqual(12);
  expect(clearances.restMs()).toBeNull();
});

it('P31: what is sent for the first time neither waits for such a question nor for its answer', async () => {
  await turnedAway(1);
  await addBatch(ledger, ['N-1', 'N-2', 'N-3'], { id: 'b-2' });
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const service: ServiceClient = {
    ...client,
    fetchTransferDetails: async (reference) => {
      await gate.promise;
      return client.fetchTransferDetails(reference);
    },
    bankTransfer: async (...given) => {
      order.push(given[1]);
      const outcome = await client.bankTransfer(...given);
      if (order.length === 3) gate.resolve();
      return outcome;
    },
  };
  expect(await senderOf(ledger, service).run()).toMatchObject({ ended: 'drained', counts: { accepted: 4 } });
  expect(order.toSorted().slice(0, 3)).toEqual(['N-1', 'N-2', 'N-3']);
  expect(order[3]).toBe('R-1');
});

it('P31: many are asked about while others are sent, and each goes out once', async () => {
  const count = 120;
  await turnedAway(count);
  let posting = 0;
  let beside = 0;
  const service: ServiceClient = {
    ...client,
    fetchTransferDetails: (reference) => {
      if (posting > 0) beside++;
      return client.fetchTransferDetails(reference);
    },
    bankTransfer: async (...given) => {
      posting++;
      await systemClock().sleep(20);
      const outcome = await client.bankTransfer(...given);
      posting--;
      return outcome;
    },
  };
  expect(await senderOf(ledger, service).run()).toMatchObject({ counts: { accepted: count } });
  expect(named(count).map((reference) => sandbox.requests.bodies(reference))).toEqual(Array(count).fill(1));
  // On PostgreSQL commits wait for the server, and fewer questions fall into the time of a POST.
  expect(beside).toBeGreaterThan(onPostgres ? 0 : count / 2);
});

it('P31: what never left this machine went to no account, and what was turned away did', async () => {
  await addBatch(ledger, named(2));
  const [left, away] = await claimAt(ledger, at(0), 2);
  if (!left || !away) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(0), left, replies.notSent());
  await recordOutcome(ledger, at(0), away, replies.turnedAway());
  const wrong = { baseUrl: 'http://wrong.test', secretKey: 'b', orderKey: 'b' };
  const other = await recordStandpoint(ledger, { own: wrong, secretKeys: ['b'], orderKeys: ['b'] });
  await ledger.db.updateTable('attempts').set({ origin_id: other.originId }).execute();
  await senderOf(ledger, client).run();
  expect(await states(ledger)).toEqual({ 'R-1': 'pending', 'R-2': 'held' });
  expect((await payoutById(ledger, away.payoutId)).message).toMatch(/went to http:\/\/wrong\.test/);
});
