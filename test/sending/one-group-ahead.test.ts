import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Limiter } from '../../src/sending/permits.ts';
import type { ServiceClient } from '../../src/service/types.ts';
import { addBatch, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { clientOf, named, senderOf } from './setting.ts';

const concurrency = 4;
let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  ledger = await makeLedger();
  sandbox = await createSandbox({ settleMs: 60_000, strictSignature: true });
  client = clientOf(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

type Conditions = {
  answer?: (reference: string) => Outcome | undefined | Promise<Outcome | undefined>;
  limiter?: Limiter;
  clock?: Clock;
  sendDeadlineMs?: number;
};

/** Sends 100 payouts; returns how it ended, and the most intents that were open when a request began. */
async function sendAll({ answer = () => undefined, ...conditions }: Conditions = {}) {
  await addBatch(ledger, named(100));
  let mostOpen = 0;
  const watched: ServiceClient = {
    ...client,
    async bankTransfer(body, reference, mayWrite) {
      const open = await ledger.db
        .selectFrom('attempts')
        .innerJoin('payouts', 'payouts.id', 'attempts.payout_id')
        .select('payouts.reference')
        .where('attempts.outcome', 'is', null)
        .execute();
      expect(open.map((one) => one.reference)).toContain(reference);
      mostOpen = Math.max(mostOpen, open.length);
      return (await answer(reference)) ?? client.bankTransfer(body, reference, mayWrite);
    },
  };
  const result = await senderOf(ledger, watched, { concurrency, ...conditions }).run();
  return { result, mostOpen };
}
const inState = async (state: string): Promise<number> =>
  Object.values(await states(ledger)).filter((one) => one === state).length;
const lost: Outcome = { kind: 'unknown', code: null, httpStatus: null, message: '', raw: '', halts: false };

it('P1: the next group commits while the last is on the wire: twice the slots are open, and never more', async () => {
  const { result, mostOpen } = await sendAll();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 100 } });
  expect(mostOpen).toBe(2 * concurrency);
});

it('P1: under a rate limit no more are open than there are slots', async () => {
  const { mostOpen } = await sendAll({ limiter: { take: async () => undefined, atOnce: 4 } });
  expect(mostOpen).toBe(concurrency);
});

it('P1: where the service answers late no more are open than there are slots', async () => {
  const real = systemClock();
  let lateMs = 0;
  const { result, mostOpen } = await sendAll({
    clock: { ...real, monotonic: () => real.monotonic() + lateMs },
    answer: () => {
      lateMs += 1100;
      return undefined;
    },
  });
  expect(result.counts.accepted).toBe(100);
  expect(mostOpen).toBe(concurrency);
});

it('P3: where an answer takes longer than half of send_deadline_ms, no intent grows old while it waits', async () => {
  const real = systemClock();
  let lateMs = 0;
  const { result, mostOpen } = await sendAll({
    sendDeadlineMs: 300,
    clock: { ...real, monotonic: () => real.monotonic() + lateMs },
    answer: () => {
      lateMs += 50;
      return undefined;
    },
  });
  expect(result.counts).toMatchObject({ accepted: 100, not_sent: 0 });
  expect(mostOpen).toBe(concurrency);
});

it('P11, P31: after a lost answer what waits is taken back, and goes once the service was asked about it', async () => {
  let asked = 0;
  // Each slot may hold one that has begun and is not asked about yet.
  const someWait = async (): Promise<boolean> =>
    (await ledger.db.selectFrom('attempts').selectAll().execute()).length >= asked + concurrency;
  const { result } = await sendAll({
    answer: async (reference) => {
      asked++;
      if (reference !== 'R-60') return undefined;
      await vi.waitUntil(someWait, { interval: 1, timeout: 10_000 });
      return lost;
    },
  });
  expect(result.ended).toBe('drained');
  const { unknown, not_sent: takenBack, accepted } = result.counts;
  expect([unknown, accepted]).toEqual([1, 99]);
  expect(takenBack).toBeGreaterThan(0);
  expect(takenBack).toBeLessThanOrEqual(concurrency);
  const lookUps = ledger.db.selectFrom('inquiries').where('outcome', '=', 'not_found');
  expect(await lookUps.selectAll().execute()).toHaveLength(takenBack);
  expect(named(100).every((one) => sandbox.requests.bodies(one) === (one === 'R-60' ? 0 : 1))).toBe(true);
});

it('P11: an answer about the account lets nothing go that waits', async () => {
  const halting: Outcome = { ...lost, code: '10', halts: true };
  const begun: string[] = [];
  const { result } = await sendAll({
    answer: (reference) => {
      begun.push(reference);
      return reference === 'R-60' ? halting : undefined;
    },
  });
  expect(result.ended).toBe('halted');
  expect(begun.length - 1 - begun.indexOf('R-60')).toBeLessThan(concurrency);
  expect(await inState('sending')).toBe(0);
  expect(await inState('ready')).toBe(100 - begun.length);
});
