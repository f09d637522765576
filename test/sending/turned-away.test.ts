import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { addBatch, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { httpReply, startRawService } from '../support/raw-service.ts';
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

/** A clock on which each wait takes no time at all. */
function quickClock(): Clock {
  const real = systemClock();
  let slept = 0;
  const now = (): number => real.now() + slept;
  return {
    now,
    iso: () => new Date(now()).toISOString(),
    monotonic: () => real.monotonic() + slept,
    sleep: async (ms) => {
      slept += ms;
    },
  };
}

const turnedAway = (retryAfterMs: number | null): AttemptOutcome => ({
  kind: 'turned_away',
  retryAfterMs,
  httpStatus: 429,
  code: null,
  message: 'slow down',
  raw: '',
});

/** A sender whose service gives these answers to its POSTs in turn, `null` by the sandbox, and the last one for ever. */
function senderAgainst(answers: (AttemptOutcome | null)[], concurrency = 1) {
  const clock = quickClock();
  const begun: number[] = [];
  const stop = new AbortController();
  let pausedUntil = 0;
  const service: ServiceClient = {
    ...client,
    orderPauseMs: () => pausedUntil - clock.monotonic(),
    bankTransfer: async (...order) => {
      const [body, reference, mayBegin] = order;
      const answer = answers[Math.min(begun.length, answers.length - 1)];
      if (answer === null || answer === undefined) {
        begun.push(clock.monotonic());
        return client.bankTransfer(body, reference, mayBegin);
      }
      if (mayBegin && !mayBegin()) return { kind: 'not_sent', message: 'kept back' };
      begun.push(clock.monotonic());
      if (begun.length >= 40) stop.abort();
      if (answer.kind === 'turned_away') pausedUntil = clock.monotonic() + (answer.retryAfterMs ?? 0);
      return answer;
    },
  };
  const sender = senderOf(ledger, service, { clock, concurrency });
  const pauses = (): number[] => begun.slice(1).map((at, i) => Math.round((at - (begun[i] ?? 0)) / 1000));
  return { run: () => sender.run({ signal: stop.signal }), pauses };
}

it('P8: a service that turns one payout away for ever is asked less and less, over runs, and each run ends', async () => {
  await addBatch(ledger, named(1));
  const { run, pauses } = senderAgainst([turnedAway(null)]);
  expect(await run()).toMatchObject({ ended: 'stuck', counts: { turned_away: 6 } });
  for (let i = 0; i < 3; i++)
    expect(await run()).toMatchObject({ ended: 'stuck', counts: { turned_away: 1 } });
  expect(pauses()).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(await states(ledger)).toEqual({ 'R-1': 'ready' });
});

it('P8: Retry-After is the shortest pause, and another answer lets the pauses begin again', async () => {
  await addBatch(ledger, named(2));
  const away = turnedAway(null);
  const { run, pauses } = senderAgainst([away, away, turnedAway(20_000), null, away, null]);
  expect(await run()).toMatchObject({ ended: 'drained', counts: { turned_away: 4, accepted: 2 } });
  expect(pauses()).toEqual([1, 2, 20, 0, 1]);
});

it('P8: requests that are turned away together grow the pause once', async () => {
  await addBatch(ledger, named(5));
  const away = turnedAway(null);
  const { run, pauses } = senderAgainst([null, away, away, away, away, null], 4);
  expect(await run()).toMatchObject({ ended: 'drained', counts: { turned_away: 4, accepted: 5 } });
  expect(pauses().slice(0, 5)).toEqual([0, 0, 0, 0, 1]);
});

it.each([429, 503])(
  'P8: no order begins while the control of a %s with Retry-After takes its time',
  async (status) => {
    await addBatch(ledger, named(12));
    let askedToWait = Number.POSITIVE_INFINITY;
    const early: string[] = [];
    const turned = '{"success":false,"status":"99","message":"slow down"}';
    const raw = await startRawService(({ head, body, socket }) => {
      const answer = (ms: number, reply: string) => void sleep(ms).then(() => socket.write(reply));
      if (head.startsWith('GET'))
        return answer(300, httpReply(404, '{"success":false,"status":"04","message":"not found"}'));
      const reference = String(JSON.parse(body).reference);
      const waited = performance.now() - askedToWait;
      if (waited > 30 && waited < 990) early.push(reference);
      if (reference === 'R-3' && askedToWait === Number.POSITIVE_INFINITY) {
        askedToWait = performance.now();
        return answer(0, httpReply(status, turned, ['retry-after: 1']));
      }
      const data = { transfer_id: `T-${reference}`, reference, status: 'pending' };
      answer(40, httpReply(200, JSON.stringify({ success: true, status: '00', message: 'ok', data })));
    });
    const other = clientOf({ url: raw.url, keys: sandbox.keys });
    try {
      await senderOf(ledger, other, { concurrency: 4 }).run();
      expect(askedToWait, 'it was asked to wait').toBeLessThan(performance.now());
      expect(early, 'orders within the pause').toEqual([]);
    } finally {
      await other.close();
      await raw.stop();
    }
  },
);
